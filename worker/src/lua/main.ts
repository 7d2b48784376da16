/** The Lua worker. */
import { serve } from "../serve";
import { bootLua } from "./machine";

serve(bootLua);
