export default {
  // Scenepress starts files of its own as threads and processes, so it is not bundled.
  serverExternalPackages: ['scenepress'],
};
