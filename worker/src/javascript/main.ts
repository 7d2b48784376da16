/** The JavaScript worker. */
import { serve } from "../serve";
import { bootQuickJs } from "./machine";

serve(bootQuickJs);
