// Node types and tools are rows of a registry: a new one is a file and a row. No other code asks a node or
// a tool for its type by name.

import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { nodeTypes } from '../../src/workflow/nodes/registry.ts';
import { toolTypes } from '../../src/workflow/tools/registry.ts';

const SRC = new URL('../../src/', import.meta.url);
const sources = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => ({ name, text: readFileSync(new URL(name, SRC), 'utf8') }));

/** Source files in which something is compared with, or looked up by, one of the names. */
function filesThatAsk(names: readonly string[]): string[] {
  const word = `'(${names.join('|')})'`;
  const asks = new RegExp(`(type|category)\\)? [!=]== ${word}|case ${word}|${word}\\]?\\.includes`);
  return sources.filter(({ text }) => asks.test(text)).map(({ name }) => name);
}

describe('a node type', () => {
  it('is asked for by its registry alone', () => {
    expect(filesThatAsk(nodeTypes.map(({ name }) => name))).toEqual([]);
  });

  it.each(nodeTypes.map((type) => [type.name, type] as const))(
    '%s has a part in a call',
    (_name, type) => {
      const { step, globalPrompt, webhook, review, hasTriggerPath } = type;
      const parts = [step, globalPrompt, webhook, review, hasTriggerPath];
      expect(parts.filter((part) => part !== undefined)).toHaveLength(1);
    },
  );

  it('in which calls begin says how they open, and no other does', () => {
    const opening = nodeTypes.filter((type) => type.opening !== undefined);
    expect(opening.map(({ step }) => step)).toEqual(['first']);
  });
});

describe('a kind of tool', () => {
  it('is asked for by its registry alone, but where the contract has a route of its own for it', () => {
    expect(filesThatAsk(toolTypes.map(({ type }) => type))).toEqual(['api/tools/tool-routes.ts']);
  });

  it('has a word of its own', () => {
    const words = toolTypes.map(({ type }) => type);
    expect(new Set(words).size).toBe(words.length);
  });
});
