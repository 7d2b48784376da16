/** atob and btoa for agents that name one. */
import "core-js/modules/web.atob.js";
import "core-js/modules/web.btoa.js";
