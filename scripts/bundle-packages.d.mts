// Types of bundle-packages.mjs, for its test.

export function bundlePackages(root: string): Promise<void>;
