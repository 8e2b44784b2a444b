// The names that the metrics had before they began with `patchbay_`: `gateway_` in its place. Exported beside the
// names of today for one release, behind PATCHBAY_METRICS_OLD_NAMES; this file goes with the setting.

/** Lines of families that had a name before: build_info had none. */
const RENAMED = /^((?:# (?:HELP|TYPE) )?)patchbay_(?!build_info\b)(.*)$/gm;

/** The text of /metrics with a copy of every renamed family under its old name. Each family appears once, so nothing
 *  is counted twice. */
export function withOldNames(text: string): string {
  const copies = [...text.matchAll(RENAMED)].map(([, head, rest]) =>
    `${head}gateway_${rest}`.replace(/^(gateway_service_seconds_.*)\bkind="/, '$1job="'),
  );
  return `${text.trimEnd()}\n\n${copies.join('\n')}\n`;
}
