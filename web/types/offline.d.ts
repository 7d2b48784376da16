/** What the build puts into the service worker (`bundle/offline.py`): the paths of the whole app. */
declare const PERSONAE_OFFLINE: { version: string; files: string[] };
