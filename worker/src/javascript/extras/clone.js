/** structuredClone for agents that name it. */
import "core-js/web/structured-clone";
