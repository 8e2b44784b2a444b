// WASI host of flite's program: its arguments, one output file and printed text, all in memory. It has only the calls
// that flite makes, and gives no access to the machine.
// Source: WASI snapshot preview 1 (wasi_snapshot_preview1.witx).

export interface FliteOutput {
  /** Output file (`-o`): RIFF WAVE. */
  wave: Buffer;
  /** Printed text. */
  printed: string;
}

const OUTPUT_NAME = 'x.wav';
/** Value of `-o`. */
export const OUTPUT_PATH = `/${OUTPUT_NAME}`;

const SUCCESS = 0;
const ERRNO_BADF = 8;
const ERRNO_NOENT = 44;
const ERRNO_SPIPE = 70;
const FILE_TYPE = { characterDevice: 2, directory: 3, regularFile: 4 } as const;
/** Descriptor of the only open folder, in which flite opens its output file. */
const FOLDER_FD = 3;
const OUTPUT_FD = 4;
const ALL_RIGHTS = 2n ** 64n - 1n;
/** Limit of all output: two minutes of 16 kHz, and the printed text. */
const OUTPUT_BYTES_MAX = 4_000_000;

export class ProgramExit extends Error {
  readonly status: number;
  constructor(status: number) {
    super(`flite ended with status ${status}`);
    this.status = status;
  }
}

export interface Memory {
  readonly buffer: ArrayBuffer;
}

/** State of a running program. `begin` sets it before the program makes a call. */
interface Program {
  memory: Memory;
  args: Buffer[];
}

export interface FliteSystem {
  /** Functions of the module `wasi_snapshot_preview1`. */
  calls: Record<string, (...args: never[]) => number>;
  /** Called before the program starts. */
  begin(memory: Memory, args: readonly string[]): void;
  output(): FliteOutput;
}

export function createFliteSystem(): FliteSystem {
  const program: Program = { memory: { buffer: new ArrayBuffer(0) }, args: [] };
  const store = createStore();
  return {
    calls: { ...processCalls(program), ...folderCalls(program), ...fileCalls(program, store) },
    begin(memory, args) {
      program.memory = memory;
      program.args = args.map((each) => Buffer.from(`${each}\0`));
    },
    output: store.output,
  };
}

function viewOf(program: Program): DataView {
  return new DataView(program.memory.buffer);
}

function processCalls(program: Program) {
  function sizes(countAt: number, bytesAt: number): number {
    viewOf(program).setUint32(countAt, program.args.length, true);
    viewOf(program).setUint32(bytesAt, Buffer.concat(program.args).length, true);
    return SUCCESS;
  }

  function get(pointersAt: number, bytesAt: number): number {
    let at = bytesAt;
    for (const [index, arg] of program.args.entries()) {
      viewOf(program).setUint32(pointersAt + 4 * index, at, true);
      arg.copy(Buffer.from(program.memory.buffer), at);
      at += arg.length;
    }
    return SUCCESS;
  }

  /** Always reports 0: flite only measures itself. */
  function time(_id: number, _precision: bigint, timeAt: number): number {
    viewOf(program).setBigUint64(timeAt, 0n, true);
    return SUCCESS;
  }

  function exit(status: number): never {
    throw new ProgramExit(status);
  }

  return { args_sizes_get: sizes, args_get: get, clock_time_get: time, proc_exit: exit };
}

function folderCalls(program: Program) {
  function stat(fd: number, statAt: number): number {
    if (fd !== FOLDER_FD) return ERRNO_BADF;
    viewOf(program).setUint8(statAt, 0);
    viewOf(program).setUint32(statAt + 4, 1, true);
    return SUCCESS;
  }

  function name(_fd: number, nameAt: number): number {
    viewOf(program).setUint8(nameAt, '/'.charCodeAt(0));
    return SUCCESS;
  }

  /** Opens the output file, the only file. */
  function open(...values: (number | bigint)[]): number {
    const [, , pathAt, pathBytes, , , , , fdAt] = values.map(Number);
    const path = Buffer.from(program.memory.buffer, pathAt, pathBytes).toString();
    if (path !== OUTPUT_NAME || fdAt === undefined) return ERRNO_NOENT;
    viewOf(program).setUint32(fdAt, OUTPUT_FD, true);
    return SUCCESS;
  }

  return { fd_prestat_get: stat, fd_prestat_dir_name: name, path_open: open };
}

function fileCalls(program: Program, store: Store) {
  function stat(fd: number, statAt: number): number {
    const data = viewOf(program);
    data.setUint8(statAt, fileType(fd));
    data.setUint16(statAt + 2, 0, true);
    data.setBigUint64(statAt + 8, ALL_RIGHTS, true);
    data.setBigUint64(statAt + 16, ALL_RIGHTS, true);
    return SUCCESS;
  }

  function seek(fd: number, offset: bigint, whence: number, positionAt: number): number {
    if (fd !== OUTPUT_FD) return ERRNO_SPIPE;
    viewOf(program).setBigUint64(positionAt, BigInt(store.seek(Number(offset), whence)), true);
    return SUCCESS;
  }

  function write(fd: number, partsAt: number, count: number, writtenAt: number): number {
    const data = viewOf(program);
    let total = 0;
    for (let index = 0; index < count; index++) {
      const address = data.getUint32(partsAt + 8 * index, true);
      const length = data.getUint32(partsAt + 8 * index + 4, true);
      store.write(fd, Buffer.from(program.memory.buffer, address, length));
      total += length;
    }
    data.setUint32(writtenAt, total, true);
    return SUCCESS;
  }

  return {
    fd_fdstat_get: stat,
    fd_fdstat_set_flags: () => SUCCESS,
    fd_seek: seek,
    fd_write: write,
    fd_read: () => ERRNO_BADF,
    fd_close: () => SUCCESS,
  };
}

function fileType(fd: number): number {
  if (fd === FOLDER_FD) return FILE_TYPE.directory;
  return fd === OUTPUT_FD ? FILE_TYPE.regularFile : FILE_TYPE.characterDevice;
}

interface Store {
  /** Writes `part`, which is borrowed. */
  write(fd: number, part: Buffer): void;
  /** `whence` is 0 for the start, 1 for the current position, 2 for the end; returns the new position. */
  seek(offset: number, whence: number): number;
  output(): FliteOutput;
}

function createStore(): Store {
  const printed: Buffer[] = [];
  let bytes = Buffer.alloc(0);
  let size = 0;
  let at = 0;
  let writtenBytes = 0;

  function writeFile(part: Buffer): void {
    const end = at + part.length;
    if (end > bytes.length) bytes = Buffer.concat([bytes], Math.max(end, 2 * bytes.length));
    part.copy(bytes, at);
    at = end;
    size = Math.max(size, end);
  }

  return {
    write(fd, part) {
      writtenBytes += part.length;
      if (writtenBytes > OUTPUT_BYTES_MAX) throw new Error('flite wrote too much');
      if (fd === OUTPUT_FD) writeFile(part);
      else printed.push(Buffer.from(part));
    },
    seek(offset, whence) {
      at = Math.min(OUTPUT_BYTES_MAX, Math.max(0, ([0, at, size][whence] ?? 0) + offset));
      return at;
    },
    output: () => ({
      wave: bytes.subarray(0, size),
      printed: Buffer.concat(printed).toString('latin1'),
    }),
  };
}
