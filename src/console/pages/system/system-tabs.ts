// The parts of the system's page, each of which is a page of its own.

export const SYSTEM_TABS = [
  { href: '/system', name: 'State' },
  { href: '/system/keys', name: 'API keys' },
];
