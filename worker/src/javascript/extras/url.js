/** URL and URLSearchParams for agents that name them. */
import "core-js/web/url";
