import { beforeEach, describe, expect, it } from 'vitest';
import { Sections } from './sections.ts';

let printed: string[];
let sections: Sections;

beforeEach(() => {
  printed = [];
  sections = new Sections((line) => printed.push(line));
});

describe('the output of calls that run at the same time', () => {
  it('has the first call as it runs, and the second one from its beginning behind it', () => {
    const [first, second] = [sections.open(), sections.open()];
    second.print('2: hello');
    first.print('1: hello');
    expect(printed).toEqual(['1: hello']);
    first.print('1: bye');
    first.close();
    expect(printed).toEqual(['1: hello', '1: bye', '2: hello']);
    second.print('2: bye');
    expect(printed.at(-1)).toBe('2: bye');
  });

  it('keeps the order where a later call is over first', () => {
    const [first, second, third] = [sections.open(), sections.open(), sections.open()];
    third.print('3');
    third.close();
    second.print('2');
    second.close();
    expect(printed).toEqual([]);
    first.print('1');
    first.close();
    expect(printed).toEqual(['1', '2', '3']);
  });
});
