// Language tags in settings: the language, script and region of BCP 47 (RFC 5646).

const TAG = /^[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8})*$/;

/** Whether the text has the form of a tag, with its parts in order: `de-12` has not. */
export function isLanguageTag(text: string): boolean {
  return TAG.test(text) && nameOf(text) !== undefined;
}

/** The primary language: `de` of `de-AT`. */
export function primaryLanguage(tag: string): string {
  return tag.split(/[-_]/, 1)[0]?.toLowerCase() ?? '';
}

export function isSameLanguage(one: string, other: string): boolean {
  return primaryLanguage(one) === primaryLanguage(other);
}

/** The tag with the region where most of its speakers live: `de` as `de-DE`. A tag with a region stays. */
export function withRegion(tag: string): string {
  if (/[-_]/.test(tag)) return tag;
  const { language, region } = new Intl.Locale(tag).maximize();
  return region === undefined ? tag : `${language}-${region}`;
}

/** English name of the language (`German`); the text itself if it has no name, or is not a tag. */
export function languageName(tag: string): string {
  return nameOf(tag) ?? tag;
}

/** Name of the tag; undefined if it is invalid. */
function nameOf(tag: string): string | undefined {
  const names = new Intl.DisplayNames(['en'], { type: 'language', fallback: 'code' });
  try {
    return names.of(tag.replaceAll('_', '-'));
  } catch {
    // RangeError: its parts are no language, script and region.
    return undefined;
  }
}
