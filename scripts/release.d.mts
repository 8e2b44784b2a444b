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
