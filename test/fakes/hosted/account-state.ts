// What a fake provider says of its account, and how its calls are led elsewhere: a test sets it.

export interface AccountState {
  standing: 'active' | 'trial' | 'suspended';
  balance: number;
  /** How far the provider's clock is ahead. */
  skewMs: number;
}

/** A healthy account. */
export function accountState(): AccountState {
  return { standing: 'active', balance: 12.5, skewMs: 0 };
}

/** The headers of an answer of the REST interface. */
export function answerHeaders({ skewMs }: AccountState): Record<string, string> {
  const date = new Date(Date.now() + skewMs).toUTCString();
  return { ['content-type']: 'application/json', date };
}

/** Faults in the routing of inbound calls. */
export interface Routing {
  /** The application's calls go to `url`; null: there is no such application. Nothing where a provider has none. */
  pointApplication(url: string | null): void;
  /** The number's calls go to another system of the account. */
  moveNumber(number: string): void;
}
