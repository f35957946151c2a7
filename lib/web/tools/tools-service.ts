import type { RenderService } from '../../service/render-service.ts';

/** The part of a service that the tools API uses. */
export type ToolsService = Pick<
  RenderService,
  | 'assignments'
  | 'balance'
  | 'cancel'
  | 'check'
  | 'checkMany'
  | 'enqueue'
  | 'enqueueMany'
  | 'files'
  | 'filesOf'
  | 'follow'
  | 'forget'
  | 'get'
  | 'inspect'
  | 'list'
  | 'openPicture'
  | 'output'
  | 'plays'
  | 'progress'
  | 'relabel'
  | 'search'
  | 'renderAgain'
  | 'scenes'
  | 'on'
  | 'off'
  | 'shares'
  | 'still'
  | 'usage'
  | 'wait'
>;
