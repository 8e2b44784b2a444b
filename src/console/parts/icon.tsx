// Icons on a grid of 24, drawn by strokes in the colour of the text. They stand beside words, so they have no name.

const PATHS = {
  menu: 'M4 6h16M4 12h16M4 18h16',
  user: 'M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8ZM4 21c0-4 3.6-6 8-6s8 2 8 6',
  check: 'M4 12l5 5L20 6',
  alert: 'M12 3l10 18H2L12 3ZM12 10v5M12 18v.5',
  info: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18ZM12 11v5M12 7.5v.5',
  close: 'M5 5l14 14M19 5L5 19',
  more: 'M4.5 12h1M11.5 12h1M18.5 12h1',
  live: 'M4 12h3l2-6 4 13 3-9 1 2h3',
  runs: 'M4 6h10M4 12h16M4 18h13M19 4v4M17 6h4',
  agents:
    'M6 8a3 3 0 1 0 0-6 3 3 0 0 0 0 6ZM18 22a3 3 0 1 0 0-6 3 3 0 0 0 0 6ZM18 8a3 3 0 1 0 0-6 3 3 0 0 0 0 6ZM9 5h6M18 8v8M6 8c0 7 4 11 9 11',
  telephony:
    'M5 3h4l2 5-2.5 1.5a11 11 0 0 0 6 6L16 13l5 2v4a2 2 0 0 1-2 2A16 16 0 0 1 3 5a2 2 0 0 1 2-2Z',
  campaigns: 'M4 10v4h3l9 5V5L7 10H4ZM20 9v6',
  system: 'M4 4h16v6H4ZM4 14h16v6H4ZM7.5 7h.01M7.5 17h.01',
  play: 'M6 4l14 8-14 8V4Z',
  pause: 'M8 4v16M16 4v16',
  microphone:
    'M12 15a3 3 0 0 0 3-3V6a3 3 0 0 0-6 0v6a3 3 0 0 0 3 3ZM5 11v1a7 7 0 0 0 14 0v-1M12 19v3',
  muted:
    'M12 15a3 3 0 0 0 3-3V6a3 3 0 0 0-6 0v6a3 3 0 0 0 3 3ZM5 11v1a7 7 0 0 0 14 0v-1M12 19v3M3 3l18 18',
  hangUp: 'M3 15c0-4 4-6 9-6s9 2 9 6v2l-5-1v-3c-2.5-.8-5.500-.8-8 0v3l-5 1v-2Z',
  keys: 'M6 5h.01M12 5h.01M18 5h.01M6 11h.01M12 11h.01M18 11h.01M6 17h.01M12 17h.01M18 17h.01',
  download: 'M12 3v12M7 10l5 5 5-5M4 21h16',
  copy: 'M8 8h12v12H8ZM4 16V4h12',
  search: 'M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14ZM16 16l5 5',
  plus: 'M12 5v14M5 12h14',
  back: 'M15 5l-7 7 7 7',
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name, size = 18 }: { name: IconName; size?: number }) {
  return (
    <svg className="icon" width={size} height={size} viewBox="0 0 24 24" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
