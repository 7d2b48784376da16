--[[
@agent ferry.clock
@tool time
@tool-description Tells the time on board.
@api studio.context
]]
function on_tool_call(tool_name, args, store, studio, context)
  store.asked = (store.asked or 0) + 1
  local river = studio.context.readFile("river.txt"):await()
  return "noon " .. store.asked .. ": " .. river
end
