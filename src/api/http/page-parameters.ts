// The parameters and figures of lists that come in pages, each described once for all routes that have them.

import { z } from 'zod';
import { queryInteger } from './values.ts';

/** Rows of a page at most, and without `limit`. */
const LIMIT_MAX = 100;
const LIMIT_DEFAULT = 50;

/** `page` and `limit` of a query. `pageMax`: the largest page that is read. */
export function pageParameters(pageMax: number) {
  return {
    page: queryInteger(1, pageMax)
      .default(1)
      .describe(`The page, from 1 to ${pageMax.toLocaleString('en')}.`),
    limit: queryInteger(1, LIMIT_MAX).default(LIMIT_DEFAULT).describe('Items on a page.'),
  };
}

/** `offset` of a list without pages. */
export const offsetParameter = queryInteger(0)
  .default(0)
  .describe('Items that are skipped at the beginning of the list.');

/** The figures of a page in a reply. */
export const pageFigures = {
  total_count: z.int().describe('Items on all pages.'),
  page: z.int().describe('This page, from 1.'),
  limit: z.int().describe('Items on a page at most.'),
  total_pages: z.int().describe('Pages; 0 for an empty list.'),
};
