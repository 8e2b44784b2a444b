import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { compareReports, machineDifferences, type Report, readReport } from './comparison.ts';

function reportOf(figures: Record<string, number>, machine = { cpu: 'A', cores: 2 }): Report {
  const section = { title: 'API', unit: '', figures };
  const read = readReport({ at: '2026-01-01T00:00:00Z', machine, sections: [section] });
  if (read === undefined) throw new Error('not read');
  return read;
}

describe('the comparison of two results', () => {
  it('says for each figure whether it is better, more being better for throughput only', () => {
    const before = reportOf({
      'run (requests/s)': 100,
      p99: 10,
      p50: 5,
      calls: 50,
      gone: 1,
      zero: 0,
    });
    const after = reportOf({
      'run (requests/s)': 150,
      p99: 20,
      p50: 5.2,
      calls: 80,
      new: 1,
      zero: 3,
    });
    const verdicts = compareReports(before, after, 10).map(({ name, verdict }) => [name, verdict]);
    expect(verdicts).toEqual([
      ['API: run (requests/s)', 'better'],
      ['API: p99', 'worse'],
      ['API: p50', 'same'],
      ['API: calls', 'unjudged'],
      ['API: zero', 'worse'],
    ]);
  });

  it('reads what the load tool writes, count by count', () => {
    const step = (calls: number, latenessP99Ms: number | null) => ({
      calls,
      runs: [],
      median: { calls, latenessP99Ms, failures: [] },
      misses: [],
    });
    const json = {
      at: 'now',
      machine: {},
      scenario: 'talk',
      workers: null,
      steps: [step(50, 3), step(100, null)],
    };
    const read = readReport(json);
    expect([...(read?.figures ?? [])]).toEqual([
      ['talk, 50 calls: calls', 50],
      ['talk, 50 calls: latenessP99Ms', 3],
      ['talk, 100 calls: calls', 100],
    ]);
  });

  it('has a load beside one with the same scenario and as many workers', () => {
    const kindOf = (scenario: string, workers?: number | null) =>
      readReport({ at: 'now', machine: {}, scenario, workers, steps: [] })?.kind;
    expect(kindOf('talk')).toBe(kindOf('talk', 1));
    expect(kindOf('talk', null)).toBe(kindOf('talk', 1));
    expect(kindOf('talk', 2)).not.toBe(kindOf('talk', 1));
    expect(kindOf('listen', 1)).not.toBe(kindOf('talk', 1));
  });

  it('reports another machine', () => {
    const here = reportOf({}, { cpu: 'A', cores: 2 });
    const there = reportOf({}, { cpu: 'B', cores: 2 });
    expect(machineDifferences(here, there)).toEqual(['cpu: A, then B']);
    expect(machineDifferences(here, here)).toEqual([]);
  });

  it('reads the results that are kept, and nothing else', () => {
    const kept = readFileSync('bench/results/2026-11-21T043727.json', 'utf8');
    expect(readReport(JSON.parse(kept))?.figures.size).toBeGreaterThan(50);
    for (const other of [null, 1, {}, { at: 'now', machine: {} }]) {
      expect(readReport(other)).toBeUndefined();
    }
  });
});
