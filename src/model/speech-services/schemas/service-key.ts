// Keys of services. They are sent in headers, which carry printable ASCII only: other characters of a copied text (line
// breaks, typographic quotes, invisible spaces) are refused before it is stored. Source: RFC 9110 §5.5.

import { z } from 'zod';

const CHARACTERS_MAX = 4_096;
const KEY = /^[\x21-\x7e]+$/;

export const secretKey = z
  .string()
  .trim()
  .min(1)
  .max(CHARACTERS_MAX)
  .regex(KEY, 'has a space, a line break or a character that no key has: copy the key again')
  .meta({ secret: true });
