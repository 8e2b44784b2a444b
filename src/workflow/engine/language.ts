// The language of the conversation: that of the current node, until a tool switches to another one for the rest of the
// call. Source: contract §8.7.

import { isSameLanguage, languageName } from '../../model/language-tag.ts';
import { currentNode, log, type Step } from './step.ts';

/** Language tag (BCP 47) of what is said now. Undefined: that of the agent. */
export function languageOf(step: Pick<Step, 'state' | 'graph'>): string | undefined {
  return step.state.language ?? currentNode(step).language;
}

/** Switches to a language that the agent's services have. False if they do not have it. */
export function switchLanguage(step: Step, language: string): boolean {
  const { state, languages } = step;
  if (languages !== undefined && !languages.includes(language)) return false;
  const previous = languageOf(step) ?? null;
  if (state.language === language) return true;
  state.language = language;
  Object.assign(step, step.wordingOf(currentNode(step), language));
  log(step, { type: 'language.switched', language, previous });
  return true;
}

/** Keeps the language that a tool has switched to, if the agent has it too. */
export function keepLanguage({ state, languages, agentLanguage }: Step): void {
  const { language } = state;
  if (language === undefined) return;
  const same = languages?.find((each) => isSameLanguage(each, language));
  const isOwn = agentLanguage !== undefined && isSameLanguage(agentLanguage, language);
  if (same === undefined || isOwn) delete state.language;
  else state.language = same;
}

/** What the model is asked for; empty if no tool has switched. */
export function languagePrompt({ state: { language } }: Pick<Step, 'state'>): string {
  if (language === undefined) return '';
  return `The caller has chosen another language: from now on speak ${languageName(language)} (${language}) only.`;
}
