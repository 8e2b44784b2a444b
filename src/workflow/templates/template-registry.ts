// The workflow templates, in the order in which clients see them.

import { appointmentReminder } from './appointment-reminder.ts';
import { firstCall } from './first-call.ts';
import { reception } from './reception.ts';
import { satisfactionSurvey } from './satisfaction-survey.ts';
import type { WorkflowTemplate } from './workflow-template.ts';

export const templates: readonly WorkflowTemplate[] = [
  appointmentReminder,
  reception,
  satisfactionSurvey,
  firstCall,
];
