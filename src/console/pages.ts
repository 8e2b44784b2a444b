// Every page of the console by its path, in the order of the navigation. A page is a module that is loaded when it is opened
// first.

import { type ComponentType, lazy } from 'react';
import type { IconName } from './parts/icon.tsx';

interface PageEntry {
  /** Below /console. */
  path: string;
  page: ComponentType;
  /** Pages without a name are not in the navigation. */
  name?: string;
  icon?: IconName;
}

export const PAGES: readonly PageEntry[] = [
  {
    path: '/',
    name: 'Board',
    icon: 'live',
    page: lazy(async () => ({
      default: (await import('./pages/board/board-page.tsx')).BoardPage,
    })),
  },
  {
    path: '/runs',
    name: 'Runs',
    icon: 'runs',
    page: lazy(async () => ({ default: (await import('./pages/runs/runs-page.tsx')).RunsPage })),
  },
  {
    path: '/runs/:agent/:run',
    page: lazy(async () => ({ default: (await import('./pages/call.tsx')).CallPage })),
  },
  {
    path: '/agents',
    name: 'Agents',
    icon: 'agents',
    page: lazy(async () => ({ default: (await import('./pages/agents/agents.tsx')).Agents })),
  },
  {
    path: '/agents/:id/*?',
    page: lazy(async () => ({ default: (await import('./pages/agents/agent.tsx')).Agent })),
  },
  {
    path: '/campaigns',
    name: 'Campaigns',
    icon: 'campaigns',
    page: lazy(async () => ({
      default: (await import('./pages/campaigns/campaigns-page.tsx')).CampaignsPage,
    })),
  },
  {
    path: '/campaigns/new',
    page: lazy(async () => ({
      default: (await import('./pages/campaigns/new-campaign-page.tsx')).NewCampaignPage,
    })),
  },
  {
    path: '/campaigns/:id',
    page: lazy(async () => ({
      default: (await import('./pages/campaigns/campaign-page.tsx')).CampaignPage,
    })),
  },
  {
    path: '/telephony',
    name: 'Telephony',
    icon: 'telephony',
    page: lazy(async () => ({
      default: (await import('./pages/telephony/telephony.tsx')).Telephony,
    })),
  },
  {
    path: '/telephony/:id/:tab?',
    page: lazy(async () => ({
      default: (await import('./pages/telephony/configuration.tsx')).Configuration,
    })),
  },
  {
    path: '/system',
    name: 'System',
    icon: 'system',
    page: lazy(async () => ({
      default: (await import('./pages/system/system-page.tsx')).SystemPage,
    })),
  },
  {
    path: '/system/keys',
    page: lazy(async () => ({ default: (await import('./pages/system/keys-page.tsx')).KeysPage })),
  },
];
