// Files in S3, over the spool: what is still on this gateway's disk is read there, all else from S3, and what comes
// whole goes to S3 at once. Files of runs are written to the spool, and the outbox brings them here (outbox.ts).

import { codeOf } from '../../errors/gateway-error.ts';
import type { FileStatus, FileStore } from './file-store.ts';
import { checkFileKey, type LocalFileStore } from './local-file-store.ts';
import type { LinkedAnswer, S3Bucket } from './s3-bucket.ts';

/** Links that lead clients to S3 itself, past the gateway; undefined where clients cannot reach it. */
export interface DirectLinks {
  /** Reads a file that is in S3. Undefined also while the file is in this gateway's spool. */
  read(key: string, answer: LinkedAnswer, expiresInS: number): Promise<string | undefined>;
  /** Takes a file by PUT with that Content-Type. S3 checks neither its size nor that it comes once. */
  write(key: string, contentType: string, expiresInS: number): Promise<string | undefined>;
}

export class S3FileStore implements FileStore {
  readonly #spool: LocalFileStore;
  readonly #bucket: S3Bucket;
  readonly links: DirectLinks;

  constructor(spool: LocalFileStore, bucket: S3Bucket) {
    this.#spool = spool;
    this.#bucket = bucket;
    this.links = {
      read: async (key, ...how) =>
        (await spool.stat(key)) === undefined ? bucket.readLink(key, ...how) : undefined,
      write: (...how) => bucket.writeLink(...how),
    };
  }

  async stat(key: string): Promise<FileStatus | undefined> {
    return (await this.#spool.stat(key)) ?? (await this.#bucket.stat(key));
  }

  async read(key: string, range?: { start: number; end: number }): Promise<NodeJS.ReadableStream> {
    try {
      return await this.#spool.read(key, range);
    } catch (error) {
      if (codeOf(error) !== 'FILE_NOT_FOUND') throw error;
      return this.#bucket.read(key, range);
    }
  }

  async readAll(key: string): Promise<Buffer> {
    try {
      return await this.#spool.readAll(key);
    } catch (error) {
      if (codeOf(error) !== 'FILE_NOT_FOUND') throw error;
      return this.#bucket.readAll(key);
    }
  }

  async write(key: string, bytes: Uint8Array): Promise<void> {
    checkFileKey(key);
    await this.#bucket.write(key, bytes);
  }

  /** A client may be slow, and S3 wants the length first: the file is complete on the disk before it is sent. */
  async receive(key: string, source: AsyncIterable<Uint8Array>, bytesMax: number): Promise<void> {
    checkFileKey(key);
    await this.#spool.stage(source, bytesMax, (path) =>
      this.#bucket.writeFile(key, path, { isNew: true }),
    );
  }

  async remove(key: string): Promise<void> {
    await this.#spool.remove(key);
    await this.#bucket.remove(key);
  }
}
