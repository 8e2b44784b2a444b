// Types of release.mjs, for its test.

interface Component {
  name: string;
  version: string;
  group?: string;
  licenses?: { expression?: string; license?: { id?: string; name?: string } }[];
}

interface Sbom {
  metadata: { component: { name: string } };
  components: Component[];
}

export function corrected(sbom: Sbom, name: string): Sbom;
export function problemsOf(sbom: Pick<Sbom, 'components'>): string[];
export function imageProblemsOf(dockerfile: string): string[];
export function recipeProblemsOf(
  dockerfile: string,
  repository: { scripts: Record<string, string>; exists: (path: string) => boolean },
): string[];
export function notesOf(changelog: string, version: string): string | undefined;
export function versionProblemsOf(release: {
  version: string;
  lock: { version: string; packages?: Record<string, { version?: string }> };
  changelog: string;
}): string[];
