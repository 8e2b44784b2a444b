// The rules of S3 at a real service. Skipped, with a line, where it is not installed.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { S3Bucket } from '../../../src/store/files/s3-bucket.ts';
import { type CephS3, hasCeph, startCephS3 } from './ceph-s3.ts';
import { codeFrom } from './file-store-contract.ts';
import { followsS3Rules, openBucket } from './s3-rules.ts';

describe.runIf(hasCeph())('S3 by radosgw', () => {
  let ceph: CephS3;
  let bucket: S3Bucket;
  beforeAll(async () => {
    ceph = await startCephS3();
    bucket = openBucket(ceph.settings);
  }, 240_000);
  afterAll(async () => {
    await bucket?.close();
    await ceph?.stop();
  }, 30_000);

  followsS3Rules(() => ceph.settings);

  it('is used again after it was away', async () => {
    await bucket.write('a/kept.txt', Buffer.from('kept'));
    await ceph.halt();
    expect(await codeFrom(bucket.readAll('a/kept.txt'))).toBe('FILES_UNAVAILABLE');
    await ceph.resume();
    expect((await bucket.readAll('a/kept.txt')).toString()).toBe('kept');
  }, 120_000);
});
