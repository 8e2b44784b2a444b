// Types of progress.mjs, for the demo and its test.

interface Output {
  isTTY?: boolean;
  columns?: number;
  write(text: string): unknown;
}

export class Progress {
  constructor(prefix: string, output?: Output);
  say(line: string): void;
  print(line: string, output?: Output): void;
  during<T>(name: string, work: Promise<T>): Promise<T>;
}
