// The metric names of the previous release, which began with `gateway_` in place of `patchbay_`. Exported beside
// the current names for one release, behind PATCHBAY_METRICS_OLD_NAMES; this file is removed with the setting.

/** Lines of metric families that had a name before; build_info had none. */
const RENAMED = /^((?:# (?:HELP|TYPE) )?)patchbay_(?!build_info\b)(.*)$/gm;

/** The text of /metrics with a copy of every renamed family under its old name. Each family appears once, so nothing
 *  is counted twice. */
export function withOldNames(text: string): string {
  const copies = [...text.matchAll(RENAMED)].map(([, head, rest]) =>
    `${head}gateway_${rest}`.replace(/^(gateway_service_seconds_.*)\bkind="/, '$1job="'),
  );
  return `${text.trimEnd()}\n\n${copies.join('\n')}\n`;
}
