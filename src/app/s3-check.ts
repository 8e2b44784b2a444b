// Checks the settings of S3 at the start, once for all processes of a gateway: a wrong one ends the start with its reason.
// An S3 that is away prevents no start.

import type { Config } from '../config.ts';
import { codeOf } from '../errors/gateway-error.ts';
import type { Log } from '../log.ts';
import { systemClock as clock } from '../std/clock.ts';
import { withDeadline } from '../std/deadline.ts';
import { systemRandom as random } from '../std/random.ts';

/** Delay of a start by an S3 that is away. */
const CHECK_MS_MAX = 3_000;

/** Throws S3_REFUSED. Does nothing without S3. */
export async function checkS3({ s3 }: Pick<Config, 's3'>, log: Log): Promise<void> {
  if (s3 === undefined) return;
  const { S3Bucket } = await import('../store/files/s3-bucket.ts');
  const bucket = new S3Bucket(s3, { clock, random, log });
  try {
    await withDeadline(clock, CHECK_MS_MAX, 'check of S3', bucket.check());
  } catch (error) {
    if (codeOf(error) === 'S3_REFUSED') throw error;
    log.warn({ err: error }, 'S3 cannot be checked: the gateway starts without it');
  } finally {
    await bucket.close();
  }
}
