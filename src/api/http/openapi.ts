// Credentials of routes in the API's description.

/** Credentials of routes that take an API key in either header. */
export const keyRequired = [{ apiKey: [] }, { bearer: [] }];
/** Credentials of routes that start calls. */
export const agentKeyRequired = [{ apiKey: [] }];

/** The pattern of a regular expression that ignores case: patterns of JSON Schema have no flags. */
export function patternOf({ source }: RegExp): string {
  return source.replace(/(?<!\\)[a-z]/gi, (letter) => {
    return `[${letter.toLowerCase()}${letter.toUpperCase()}]`;
  });
}
