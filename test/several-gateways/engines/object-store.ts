// A real S3 for the gateways, asked past them. What it stores outlives `halt` and `resume`.

import { request } from 'undici';
import { systemClock } from '../../../src/std/clock.ts';
import { S3Signer } from '../../../src/store/files/s3-signer.ts';
import { type CephS3, hasCeph, startCephS3 } from '../../store/files/ceph-s3.ts';

export class ObjectStore {
  readonly #ceph: CephS3;

  private constructor(ceph: CephS3) {
    this.#ceph = ceph;
  }

  static async start(): Promise<ObjectStore> {
    return new ObjectStore(await startCephS3());
  }

  /** Settings of a gateway. */
  get environment(): Record<string, string> {
    const { endpoint, bucket, region, accessKey, secretKey } = this.#ceph.settings;
    return {
      ['S3_ENDPOINT']: endpoint,
      ['S3_BUCKET']: bucket,
      ['S3_REGION']: region,
      ['S3_ACCESS_KEY']: accessKey,
      ['S3_SECRET_KEY']: secretKey,
      ['S3_PATH_STYLE']: '1',
    };
  }

  /** How many of these objects it has. */
  async count(keys: readonly string[]): Promise<number> {
    const signer = new S3Signer(this.#ceph.settings, systemClock);
    let found = 0;
    for (const key of keys) {
      const { url, headers } = await signer.sign({ method: 'HEAD', key });
      const { statusCode } = await request(url, { method: 'HEAD', headers });
      if (statusCode === 200) found += 1;
    }
    return found;
  }

  /** Requests are refused from here on. */
  halt(): Promise<void> {
    return this.#ceph.halt();
  }

  resume(): Promise<void> {
    return this.#ceph.resume();
  }

  end(): Promise<void> {
    return this.#ceph.stop();
  }
}

/** Why there can be none here; undefined if there can. */
export function objectStoreMissing(): string | undefined {
  return hasCeph() ? undefined : 'needs radosgw, ceph-mon, ceph-osd and ceph-common';
}
