// Language tags as settings have them. Source: BCP 47 (RFC 5646), of which settings take language, script and region.

const TAG = /^[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8})*$/;

/** Whether the text is a tag in its form and in the order of its parts: `de-12` is none. */
export function isLanguageTag(text: string): boolean {
  return TAG.test(text) && nameOf(text) !== undefined;
}

/** `de` of `de-AT`. */
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

/** `German`; the text itself where it has no name, or is no tag. */
export function languageName(tag: string): string {
  return nameOf(tag) ?? tag;
}

/** Undefined: no tag. */
function nameOf(tag: string): string | undefined {
  const names = new Intl.DisplayNames(['en'], { type: 'language', fallback: 'code' });
  try {
    return names.of(tag.replaceAll('_', '-'));
  } catch {
    // RangeError: its parts are no language, script and region.
    return undefined;
  }
}
