// A tool that asks another system over HTTP. Source: contract §8.7.

import type { HttpApiConfig } from './definition.ts';
import { checkedArguments, presetValues, type ToolContext, type ToolValues } from './parameters.ts';
import { type ToolRequest, toolRequest } from './tool-request-builder.ts';

/** `presets` stand in for the author's templates, to try a tool out. Throws TOOL_ARGUMENTS, TOOL_URL. */
export function httpApiRequest(
  config: HttpApiConfig,
  given: ToolValues,
  context: ToolContext,
  presets?: ToolValues,
): ToolRequest {
  return toolRequest(config, {
    arguments: checkedArguments(config.parameters, given),
    presets: presets ?? presetValues(config.preset_parameters, context),
    context,
  });
}
