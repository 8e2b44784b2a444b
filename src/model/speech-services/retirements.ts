// Models whose end their services have announced: not offered as defaults or examples, and named in a warning when a
// configuration uses one. Source: comments in the types of the official clients of November 2026 (openai 7.57,
// @anthropic-ai/sdk 1.12).

interface Retirement {
  /** Name of the model, with or without a date at its end. */
  model: string;
  /** Last day, as a date. */
  endsOn: string;
  /** The successor; undefined if the interface ends with the model. */
  successor: string | undefined;
}

const OPENAI: readonly (readonly [endsOn: string, successor: string, models: string])[] = [
  ['2026-10-23', 'gpt-5.4-nano', 'gpt-4.1-nano gpt-3.5-turbo'],
  ['2026-10-23', 'gpt-5.4-mini', 'gpt-4-turbo gpt-4 o1 o3-mini o4-mini'],
  ['2026-12-11', 'gpt-5.4-mini', 'gpt-5-mini gpt-5-nano'],
  ['2026-12-11', 'gpt-5.4', 'gpt-5 o3 gpt-5-pro'],
  ['2027-01-14', 'gpt-5.4-mini', 'gpt-4.1-mini gpt-4o-mini'],
  ['2027-01-14', 'gpt-5.4', 'gpt-4.1 gpt-4o'],
  ['2027-04-01', 'gpt-5.4-mini', 'gpt-5.4-nano gpt-5.1'],
];

const retirements: readonly Retirement[] = [
  ...OPENAI.flatMap(([endsOn, successor, models]) =>
    models.split(' ').map((model) => ({ model, endsOn, successor })),
  ),
  ...['tts-1', 'tts-1-hd', 'gpt-4o-mini-tts'].map((model) => {
    return { model, endsOn: '2027-01-06', successor: undefined };
  }),
  ...['whisper-1', 'gpt-4o-transcribe', 'gpt-4o-mini-transcribe'].map((model) => {
    return { model, endsOn: '2027-02-26', successor: undefined };
  }),
  { model: 'claude-sonnet-4-5', endsOn: '2026-11-30', successor: 'claude-sonnet-5' },
];

/** The retirement of a model; undefined if none is announced. OpenRouter's names begin with the vendor. */
export function retirementOf(model: string): Retirement | undefined {
  const name = model
    .replace(/^(openai|anthropic)\//, '')
    .replace(/-(\d{8}|\d{4}-\d{2}-\d{2})$/, '');
  return retirements.find((each) => each.model === name);
}
