// Headers that an organization adds to requests of its own. Source: RFC 9110, 5.5 and 5.6.2.

import { z } from 'zod';

const NAME_CHARACTERS_MAX = 200;
/** Servers take about 8 kB of headers. */
const VALUE_CHARACTERS_MAX = 6_000;
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const VALUE = /^[\x20-\x7e\x80-\xff]*$/;
/** They say how a request travels, which is ours to say. */
const OF_THE_CONNECTION = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

export const requestHeaderName = z
  .string()
  .min(1)
  .max(NAME_CHARACTERS_MAX)
  .refine((name) => NAME.test(name) && !OF_THE_CONNECTION.has(name.toLowerCase()), {
    error: 'this cannot be the name of a header of your own',
  });

export const requestHeaderValue = z
  .string()
  .max(VALUE_CHARACTERS_MAX)
  .refine((value) => VALUE.test(value), { error: 'a header cannot hold this' });
