// The colour scheme: that of the system, or the one that the user chose on this device.

export const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

const STORED = 'patchbay-theme';
/** Sent to the window when the theme changes: canvases are drawn again. */
export const THEME_CHANGED = 'patchbay-theme-changed';

export function chosenTheme(): Theme {
  const stored = localStorage.getItem(STORED);
  return THEMES.find((theme) => theme === stored) ?? 'system';
}

export function chooseTheme(theme: Theme): void {
  localStorage.setItem(STORED, theme);
  applyTheme();
}

export function applyTheme(): void {
  document.documentElement.dataset['theme'] = chosenTheme();
  window.dispatchEvent(new Event(THEME_CHANGED));
}

matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () =>
  window.dispatchEvent(new Event(THEME_CHANGED)),
);
