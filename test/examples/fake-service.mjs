import { fakeRenderService } from 'scenepress/testing';

export const service = fakeRenderService({ folder: './renders' });
await service.start();
