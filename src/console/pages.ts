// Every page of the console by its path, in the order of the navigation. A page is a module that is loaded when it is opened
// first; the board, which opens first, is part of the program.

import type { ComponentType } from 'react';
import { BoardPage } from './pages/board/board-page.tsx';
import type { IconName } from './parts/icon.tsx';
import { type LaterComponent, later } from './parts/later.tsx';

interface PageEntry {
  /** Below /console. */
  path: string;
  page: ComponentType | LaterComponent<object>;
  /** Pages without a name are not in the navigation. */
  name?: string;
  icon?: IconName;
}

export const PAGES: readonly PageEntry[] = [
  {
    path: '/',
    name: 'Board',
    icon: 'live',
    page: BoardPage,
  },
  {
    path: '/runs',
    name: 'Runs',
    icon: 'runs',
    page: later(async () => (await import('./pages/runs/runs-page.tsx')).RunsPage),
  },
  {
    path: '/runs/:agent/:run',
    page: later(async () => (await import('./pages/call-page.tsx')).CallPage),
  },
  {
    path: '/agents',
    name: 'Agents',
    icon: 'agents',
    page: later(async () => (await import('./pages/agents/agents-page.tsx')).AgentsPage),
  },
  {
    path: '/agents/:id/*?',
    page: later(async () => (await import('./pages/agents/agent-page.tsx')).AgentPage),
  },
  {
    path: '/campaigns',
    name: 'Campaigns',
    icon: 'campaigns',
    page: later(async () => (await import('./pages/campaigns/campaigns-page.tsx')).CampaignsPage),
  },
  {
    path: '/campaigns/new',
    page: later(
      async () => (await import('./pages/campaigns/new-campaign-page.tsx')).NewCampaignPage,
    ),
  },
  {
    path: '/campaigns/:id',
    page: later(async () => (await import('./pages/campaigns/campaign-page.tsx')).CampaignPage),
  },
  {
    path: '/telephony',
    name: 'Telephony',
    icon: 'telephony',
    page: later(async () => (await import('./pages/telephony/telephony-page.tsx')).TelephonyPage),
  },
  {
    path: '/telephony/:id/:tab?',
    page: later(
      async () => (await import('./pages/telephony/configuration-page.tsx')).ConfigurationPage,
    ),
  },
  {
    path: '/system',
    name: 'System',
    icon: 'system',
    page: later(async () => (await import('./pages/system/system-page.tsx')).SystemPage),
  },
  {
    path: '/system/keys',
    page: later(async () => (await import('./pages/system/keys-page.tsx')).KeysPage),
  },
];
