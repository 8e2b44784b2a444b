// Which alerts fire on this gateway: each rule's series that are beyond its bound, and since when.

import { type AlertRule, alertRules, beyond } from './alert-rules.ts';
import type { MetricHistory, Series } from './metric-history.ts';

export interface AlertState {
  name: string;
  severity: AlertRule['severity'];
  /** `pending`: beyond its bound, but not for long enough. `elsewhere`: Prometheus alone evaluates it. */
  state: 'firing' | 'pending' | 'quiet' | 'elsewhere';
  text: string;
  /** What helps first. */
  remedy: string;
  /** Milliseconds since 1970 since which it is beyond its bound; null: it is not. */
  sinceMs: number | null;
  /** What is beyond the bound, or why the gateway does not evaluate the rule; null: nothing. */
  detail: string | null;
}

/** The label with what corrects the fault of a series. */
const REMEDY = 'remedy';
/** Series named in one detail. */
const NAMED_MAX = 5;

export class AlertStates {
  /** Since when series are beyond the bound of their rule, by the rule and their labels. */
  #since = new Map<string, number>();
  #states: readonly AlertState[] = alertRules.map((rule) => stateOf(rule, [], []));

  /** In the order of the rules. */
  get all(): readonly AlertState[] {
    return this.#states;
  }

  /** Evaluates all rules after a sample. `nowMs`: since 1970. */
  evaluate(history: MetricHistory, nowMs: number): void {
    const since = new Map<string, number>();
    this.#states = alertRules.map((rule) => {
      const found = beyond(rule, history);
      const begins = found.map(({ labels }) => {
        const key = `${rule.name} ${JSON.stringify(labels)}`;
        const atMs = this.#since.get(key) ?? nowMs;
        since.set(key, atMs);
        return atMs;
      });
      return stateOf(rule, found, begins, nowMs);
    });
    this.#since = since;
  }
}

/** `begins`: since when each of the found series is beyond the bound. */
function stateOf(
  rule: AlertRule,
  found: readonly Series[],
  begins: readonly number[],
  nowMs = 0,
): AlertState {
  const { name, severity, text, forMs, why } = rule;
  const alert = { name, severity, text, remedy: remedyOf(rule, found) };
  if (why !== undefined) return { ...alert, state: 'elsewhere', sinceMs: null, detail: why };
  if (found.length === 0) return { ...alert, state: 'quiet', sinceMs: null, detail: null };
  const sinceMs = Math.min(...begins);
  const shown = found.slice(0, NAMED_MAX).map((series) => described(series, rule));
  const more = found.length - shown.length;
  const detail = `${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
  return { ...alert, state: nowMs - sinceMs >= forMs ? 'firing' : 'pending', sinceMs, detail };
}

/** The remedies that the series bring along, each once; else that of the rule. */
function remedyOf(rule: AlertRule, found: readonly Series[]): string {
  const own = new Set(found.slice(0, NAMED_MAX).flatMap(({ labels }) => labels[REMEDY] ?? []));
  return own.size === 0 ? rule.remedy : [...own].join(' ');
}

/** `llm openai: 12 %`. */
function described({ labels, value }: Series, { unit }: AlertRule): string {
  const { [REMEDY]: _, ...named } = labels;
  const name = Object.values(named).filter(Boolean).join(' ');
  return name === '' ? written(value, unit) : `${name}: ${written(value, unit)}`;
}

function written(value: number, unit: AlertRule['unit']): string {
  if (unit === 'share') return `${Math.round(value * 100)} %`;
  if (unit === 'seconds') return `${Number(value.toPrecision(3))} s`;
  return unit === 'bytes' ? `${Math.round(value)} bytes` : String(Math.round(value));
}
