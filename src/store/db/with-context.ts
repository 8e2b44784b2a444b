// A repository is its functions, each with the context as its first parameter; here the context is filled in.
// What the functions do is documented where they are.

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
