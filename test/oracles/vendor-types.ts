// Messages of a fake against the types that the vendor's SDK declares: a missing field, a field of another type and a
// field that the SDK does not know are differences. One compilation for all messages of a test.

import { fileURLToPath } from 'node:url';
import ts from 'typescript';

export interface TypedMessage {
  /** A type expression: `import('package').Name`. */
  type: string;
  message: unknown;
}

const FILE = fileURLToPath(new URL('messages.virtual.ts', import.meta.url));
const options: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2023,
  module: ts.ModuleKind.NodeNext,
  lib: ['lib.es2024.d.ts', 'lib.dom.d.ts'],
  types: ['node'],
  strict: true,
  skipLibCheck: true,
  noEmit: true,
};

/** What the SDK's types have against these messages; nothing if they agree. */
export function typeDifferences(messages: readonly TypedMessage[]): string[] {
  const source = messages
    .map(({ type, message }, at) => `export const m${at}: ${type} = ${JSON.stringify(message)};\n`)
    .join('');
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists } = host;
  host.fileExists = (name) => name === FILE || fileExists(name);
  host.getSourceFile = (name, target, ...rest) =>
    name === FILE
      ? ts.createSourceFile(name, source, target)
      : getSourceFile.call(host, name, target, ...rest);
  const program = ts.createProgram([FILE], options, host);
  return ts
    .getPreEmitDiagnostics(program)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
}
