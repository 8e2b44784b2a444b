// A configuration file as Asterisk's HTTP server reads it: of several sections of one name the first counts, and `(+)`
// adds to it.

/** Settings of a section. */
export function sectionOf(text: string, name: string): Record<string, string> {
  const sections: { name: string; values: Record<string, string> }[] = [];
  let values: Record<string, string> = {};
  for (const line of text.split('\n')) {
    const plain = line.replace(/;.*$/, '').trim();
    const [, title = '', option] = /^\[([^\]]+)\](?:\((.*)\))?$/.exec(plain) ?? [];
    const [, key = '', value = ''] = /^([\w-]+)\s*=>?\s*(.*)$/.exec(plain) ?? [];
    if (title !== '') {
      const added = option === '+' ? sections.find((each) => each.name === title) : undefined;
      const section = added ?? { name: title, values: {} };
      if (added === undefined) sections.push(section);
      ({ values } = section);
    } else if (key !== '') values[key] = value;
  }
  return sections.find((section) => section.name === name)?.values ?? {};
}
