// The embedded PostgreSQL (PGlite) on a folder, made durable. As shipped it starts with fsync off and
// its file system has no fsync; here both are fixed, and an engine whose commits do not reach the
// disk is refused. It blocks its thread, so it runs in a process of its own (embedded-process.ts).
// Source: https://github.com/electric-sql/pglite/issues/1107.

import { closeSync, fsyncSync, openSync } from 'node:fs';
import { PGlite } from '@electric-sql/pglite';
import { NodeFS } from '@electric-sql/pglite/nodefs';
import { GatewayError } from '../../errors/gateway-error.ts';
import { isObject } from '../../std/json.ts';
import { queryMessage } from './wire-protocol.ts';

/** WASI's number for an input/output error. On it PostgreSQL stops rather than lose a commit. */
const WASI_EIO = 29;

export const START_PARAMETERS: readonly string[] = [
  ...PGlite.defaultStartParams.filter((parameter) => parameter !== '-F'),
  ...['-c', 'fsync=on'],
  // fdatasync has no effect in PGlite.
  ...['-c', 'wal_sync_method=fsync'],
  ...['-c', 'shared_buffers=32MB'],
  // Small, so that old log is reused soon; maintenance.ts requests the checkpoints.
  ...['-c', 'max_wal_size=64MB'],
  ...['-c', 'timezone=UTC'],
  // Statements may contain what callers said.
  ...['-c', 'log_min_error_statement=panic'],
  ...['-c', 'log_parameter_max_length_on_error=0'],
];

export interface PgliteEngine {
  /** Runs one frontend message of the PostgreSQL protocol to its end. Returns the answer's bytes, which are the
   *  caller's. Throws if the engine broke: the process must end then. */
  execute(message: Uint8Array): Uint8Array;
  /** Number of times that a file was flushed to the disk. */
  fsyncs(): number;
  close(): Promise<void>;
}

/** Creates a cluster at `folder`, which must not exist. Takes seconds, and 840 MB while it runs. */
export async function initialiseCluster(folder: string): Promise<void> {
  const database = await PGlite.create({
    fs: new NodeFS(folder),
    startParams: [...START_PARAMETERS],
  });
  await database.close();
}

export interface PgliteEngineOptions {
  /** Flushes an open file to the disk; tests pass a disk that fails. */
  flush?: (descriptor: number) => void;
  parameters?: readonly string[];
}

/** Opens the cluster at `folder`. Throws STORE_NOT_DURABLE. */
export async function openPgliteEngine(
  folder: string,
  { flush = fsyncSync, parameters = START_PARAMETERS }: PgliteEngineOptions = {},
): Promise<PgliteEngine> {
  let fsyncs = 0;
  const files = new DurableNodeFS(folder, (descriptor) => {
    flush(descriptor);
    fsyncs += 1;
  });
  const database = await PGlite.create({ fs: files, startParams: [...parameters] });
  const execute = rawExecution(database);
  const engine: PgliteEngine = {
    execute,
    fsyncs: () => fsyncs,
    close: () => database.close(),
  };
  const before = fsyncs;
  // A commit that writes the log and leaves no data behind.
  engine.execute(queryMessage("select pg_logical_emit_message(true, 'patchbay', 'start')"));
  if (fsyncs === before) throw new GatewayError('STORE_NOT_DURABLE', {});
  return engine;
}

/** The function that runs a message at once. PGlite would parse every answer for results of its own, an eighth of the
 *  processor time of a statement, unless it passes the bytes on; it does so in an asynchronous function, whose work is
 *  done before that returns. */
function rawExecution(database: PGlite): PgliteEngine['execute'] {
  const runSync = database.execProtocolRawSync.bind(database);
  /** What the current message failed with; empty once it has run. */
  const faults: unknown[] = [];
  database.execProtocolRawSync = (message) => {
    faults.length = 0;
    try {
      return runSync(message);
    } catch (error) {
      faults.push(error);
      throw error;
    }
  };
  return (message) => {
    const pieces: Uint8Array[] = [];
    const onRawData = (piece: Uint8Array): void => void pieces.push(piece.slice());
    // A release of PGlite that does not run the message at once would lose its answer.
    faults.splice(0, Number.POSITIVE_INFINITY, new Error('PGlite has not run the message'));
    database.execProtocolRawStream(message, { syncToFs: false, onRawData }).catch(() => undefined);
    if (faults.length > 0) throw faults.pop();
    const [first, ...rest] = pieces;
    return first === undefined || rest.length > 0 ? Buffer.concat(pieces) : first;
  };
}

/** PGlite's files on the local disk, with the fsync that PGlite lacks. */
class DurableNodeFS extends NodeFS {
  readonly #flush: (descriptor: number) => void;

  constructor(folder: string, flush: (descriptor: number) => void) {
    super(folder);
    this.#flush = flush;
  }

  override async init(...from: Parameters<NodeFS['init']>): ReturnType<NodeFS['init']> {
    const started = await super.init(...from);
    const preRun = started.emscriptenOpts.preRun ?? [];
    const addFsync = (module: { NODEFS: unknown }): void => {
      // An internal of PGlite: if it is missing, the check at the start finds no fsync.
      const files = module.NODEFS;
      if (!isObject(files) || !isObject(files['stream_ops'])) return;
      const realPath = files['realPath'];
      files['stream_ops']['fsync'] = (stream: { nfd?: number | null; node: unknown }): number => {
        try {
          if (typeof stream.nfd === 'number') this.#flush(stream.nfd);
          else if (typeof realPath === 'function') this.#flushFolder(realPath(stream.node));
          return 0;
        } catch {
          return WASI_EIO; // The engine reports it and stops.
        }
      };
    };
    return { emscriptenOpts: { ...started.emscriptenOpts, preRun: [...preRun, addFsync] } };
  }

  #flushFolder(path: string): void {
    const descriptor = openSync(path, 'r');
    try {
      this.#flush(descriptor);
    } finally {
      closeSync(descriptor);
    }
  }
}
