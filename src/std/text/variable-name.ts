// Names of template variables and of columns, compared as people write them: `First Name` is `first_name`.

/** The same for names that differ in case, spaces and underscores only. */
export function variableKey(name: string): string {
  return name.replace(/[\s_]+/g, '').toLowerCase();
}
