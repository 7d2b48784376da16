--[[
@agent broken.throws
@description Throws when it is loaded.
@tool break_throws
@tool-description Breaks.
@tool-params {"type": "object", "properties": {}}
@preload true
]]

error("no hands")
