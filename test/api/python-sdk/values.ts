// Values as the reference platform's Python SDK takes them from JSON: pydantic 2 in its lax mode. Narrower
// where this gateway sends nothing of the kind (a float for an int, a number for a time).
// Source: pydantic 2's conversion table; dograh-hq/dograh (BSD-2-Clause), sdk/python of October 2026. Field
// names, types and limits alone are taken from there, in this folder.

import { z } from 'zod';

export const text = z.string();
/** Texts of digits count as numbers, and become numbers. */
export const integer = z.union([z.int(), z.string().regex(/^[+-]?\d+$/)]).transform(Number);
/** A moment without an offset is refused. */
export const moment = z.iso.datetime({ offset: true });
export const anyObject = z.record(z.string(), z.unknown());
