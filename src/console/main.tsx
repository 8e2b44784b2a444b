// The console's program: a page of React below /console/, with the session that the gateway's cookie holds.

import '@xyflow/react/dist/base.css';
import 'uplot/dist/uPlot.min.css';
import './style/base.css';
import './style/board.css';
import './style/call.css';
import './style/graph.css';
import './style/lists.css';
import './style/parts.css';
import './pages/agents/agents.css';
import './pages/telephony/telephony.css';
import { QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { queries } from './api/client.ts';
import { App } from './app.tsx';
import { applyTheme } from './theme.ts';

applyTheme();
const root = document.getElementById('root');
if (root !== null) {
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={queries}>
        <App />
      </QueryClientProvider>
    </StrictMode>,
  );
}
