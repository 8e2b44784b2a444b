// A tool with which the model switches the call to another language: recogniser, voice, and the agent's own words. Not in
// the reference. Source: contract §8.7, §10.1.

import { z } from 'zod';
import { isLanguageTag, languageName, primaryLanguage } from '../../model/language-tag.ts';
import { soleFunction } from './function-name.ts';
import { checkedArguments } from './parameters.ts';
import { messageOrNull, type ToolParameter } from './tool-fields.ts';
import { defineTool } from './tool-type.ts';

/** Each has services of its own in every call: as many as the nodes of an agent may have. */
const LANGUAGES_MAX = 15;
const NAME_CHARACTERS_MAX = 200;

const language = z.object({
  language: z
    .string()
    .trim()
    .max(NAME_CHARACTERS_MAX)
    .refine(isLanguageTag, { error: 'must be a language tag, such as de or pt-BR' })
    .describe('Language as in BCP 47, such as `de` or `pt-BR`.'),
  voice: z
    .string()
    .trim()
    .min(1)
    .max(NAME_CHARACTERS_MAX)
    .nullable()
    .default(null)
    .describe('Voice in this language, as its service names it. Null: that of the agent.'),
  message: messageOrNull.describe(
    'Text in this language that is spoken after the switch, at most 2,000 characters, with template variables. Null: the model speaks.',
  ),
});
type Offer = z.infer<typeof language>;

const config = z.object({
  languages: z
    .array(language)
    .min(1)
    .max(LANGUAGES_MAX)
    .refine((all) => new Set(all.map((each) => each.language)).size === all.length, {
      error: 'each language may be used once',
    })
    .describe(
      'Languages that callers may choose, 1 to 15, each once. One that recogniser or voice of the agent do not have is not offered in calls.',
    ),
});

export const switchLanguageTool = defineTool({
  type: 'switch_language',
  config,
  open: ({ languages }, tool) => {
    const parameters = parametersOf(languages);
    return {
      functions: soleFunction(tool, parameters),
      languages: languages.map(({ language: tag, voice }) => {
        return { language: tag, ...(voice !== null && { voice }) };
      }),
      call: (_key, given) => {
        const { language: wanted } = checkedArguments(parameters, given);
        const offer = offerOf(languages, String(wanted));
        if (offer === undefined)
          return { what: 'result', result: notOffered(String(wanted), languages) };
        return { what: 'language', language: offer.language, message: offer.message ?? '' };
      },
    };
  },
});

/** The result for a language that is not offered. `wanted`: as the model named it. */
export function notOffered(
  wanted: string,
  offers: readonly Pick<Offer, 'language'>[],
): Record<string, unknown> {
  const offered = offers.map((each) => each.language);
  const names = offers.map((each) => named(each.language)).join(', ');
  const rest = names === '' ? 'There is no other language.' : `The languages are: ${names}.`;
  return {
    status: 'error',
    error: `This line does not offer ${wanted.slice(0, 60)}. ${rest}`,
    offered,
  };
}

function parametersOf(languages: readonly Offer[]): ToolParameter[] {
  const names = languages.map((each) => named(each.language)).join(', ');
  const description = `Tag of the language to speak from now on, one of: ${names}.`;
  return [{ name: 'language', type: 'string', description, required: true }];
}

function named(tag: string): string {
  return `${tag} (${languageName(tag)})`;
}

/** The offer that is meant: by its tag, its English name, or the only one of its primary language. */
function offerOf(languages: readonly Offer[], wanted: string): Offer | undefined {
  const text = wanted.trim().toLowerCase();
  const exact = languages.find(
    ({ language: tag }) => tag.toLowerCase() === text || languageName(tag).toLowerCase() === text,
  );
  if (exact !== undefined || text === '') return exact;
  const like = languages.filter(({ language: tag }) => {
    const primary = primaryLanguage(tag);
    return primary === primaryLanguage(text) || languageName(primary).toLowerCase() === text;
  });
  return like.length === 1 ? like[0] : undefined;
}
