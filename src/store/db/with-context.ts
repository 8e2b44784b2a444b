// Binds the context, the first parameter of a repository's functions, which are documented where they are defined.

import type { StoreContext } from './store-context.ts';

type Functions = Record<string, (context: StoreContext, ...from: never[]) => unknown>;

type WithContext<F extends Functions> = {
  [Name in keyof F]: F[Name] extends (context: never, ...from: infer From) => infer Result
    ? (...from: From) => Result
    : never;
};

export function withContext<F extends Functions>(
  context: StoreContext,
  functions: F,
): WithContext<F> {
  const filled = Object.entries(functions).map(([name, call]) => [
    name,
    (...from: never[]) => call(context, ...from),
  ]);
  return Object.fromEntries(filled);
}
