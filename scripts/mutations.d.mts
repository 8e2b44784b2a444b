// Types of mutations.mjs, for its test.

interface Mutation {
  id: string;
  /** What the fix is, in a sentence. */
  fix: string;
  /** From the project's folder. */
  file: string;
  from: string;
  to: string;
  /** Parts of paths. */
  tests: string[];
  /** Whether its tests start a gateway from dist/. */
  needsBuild?: true;
}

type Verdict = 'caught' | 'survived' | 'timed out' | 'no tests' | 'gone' | 'error';

interface Report {
  testResults: {
    name: string;
    status: string;
    assertionResults: { status: string; fullName: string }[];
  }[];
}

interface Run {
  code: number | null;
  isLate: boolean;
  report: Report | undefined;
  folder: string;
}

interface Result {
  verdict: Verdict;
  failed?: string;
  files: string[];
  failedFiles: string[];
}

interface Row {
  id: string;
  verdict: Verdict;
  seconds: number;
  detail: string;
}

export function planted(
  text: string,
  mutation: Pick<Mutation, 'id' | 'file' | 'from' | 'to'>,
): string;
export function chosen<M extends { id: string }>(
  mutations: readonly M[],
  ids: readonly string[] | undefined,
): M[];
export function resultOf(run: Run): Result;
export function tableOf(rows: readonly Row[]): string;
