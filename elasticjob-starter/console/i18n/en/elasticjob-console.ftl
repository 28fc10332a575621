# Frame
skip-to-content = Skip to the content
navigation = Pages
read-only = read-only
log-out = Log out
logged-out = You are logged out: this page is not kept up to date any more.
not-followed = This page does not change by itself now: too many pages that do are open. Close some of them; it tries again every 30 s.
stale = Not followed since { $time }: the console is not reached. This page shows the state of then. It tries again, and goes on by itself.
theme = Theme
theme-system = As the system
theme-light = Light
theme-dark = Dark

# Login
log-in = Log in
login-name = Name
login-password = Password
login-wrong = The name or the password is wrong.
login-wait = Too many attempts. Try again in { $seconds } s.

# Errors
error-no-page = There is no such page
error-no-page-detail = The address is wrong, or the registry center is not one of this console, or you may not see it.
error-forbidden = You may not do that
error-registry-away = The registry center is not reached
error-problem = That did not work
wrong-host = This is not a name of the console
wrong-host-called = The console was called by this name:
wrong-host-why = Under this name the console lets no caller in without a login: a foreign page can point its own name at this address.
wrong-host-login = Only if you know this name, log in here:
wrong-host-open = Visitors without a login are let in here:
wrong-host-open-here = On the host of the console, visitors without a login are let in here:
wrong-host-setting = If it is a name of the console, an administrator adds it to this setting, and starts the console again:
wrong-host-name = without a port:
wrong-host-proxy = The proxy wrote this name in the place of the one that the browser called. An administrator lets the proxy pass on this header of the browser:

# Words of all pages
all = all
none = none
select = Select
reason = Reason
needs-reason = Reason (required)
export = Export these configurations as YAML
export-one = Export as YAML
compare = Compare registry centers
compare-about = The configurations of the jobs in { $here } beside those of another registry center. Secrets are masked.
compare-with = With
compare-show = Compare
compare-same = { $same } jobs of this part are the same; both registry centers have { $total } together.
compare-caption = Jobs that are not the same
compare-only = Only in { $registry }
compare-differs = Differs
compare-unusable = The configuration in { $registry } cannot be used
compare-unusable-both = Neither configuration can be used
compare-lost = The registry center { $registry } is lost since { $since }. What is shown of it is from then.
compare-secret = What is masked differs
compare-one-registry = There is no other registry center here to compare with.
needs-reason-to-disable = Reason (required to disable)
needs-reason-title = A reason is needed
needs-reason-about = This console insists on a reason where something is disabled, shut down, removed, changed or cancelled. Nothing was done yet, and what you entered is kept.
needs-reason-missing = Say why, in at most { $most } characters. It is recorded with the action.
needs-reason-go-on = Go on with this reason
since = since
since-when = Since
not-known = not known
error = Error
actions = Actions
removed = removed
previous-page = Previous page
next-page = Next page
status = Status
search = Search
sort = Order
sort-name = Name
filter = Filter
items = Items
item = Item
instances = Instances
servers = Servers
server = Server
owner = Owner
parameter = Parameter
leader = Leader
schedule = Schedule
configuration = Configuration
setting = Setting
value = Value
cron = Cron expression
time-zone = Time zone
offline = offline

# Times
seconds = { $number } s
minutes = { $number } min
hours = { $number } h
days = { $number } d
time-in = in { $span }
time-ago = { $span } ago

# Actions
trigger = Run now
enable = Enable
disable = Disable
shut-down = Shut down
shut-down-or-remove = Shut down or remove
shut-down-warning = The instances finish what runs, and leave. The console cannot start them again: restart their process.
remove = Remove
remove-job = Remove the job
remove-job-warning = Its configuration, items and records are deleted. An instance that starts creates it again, with the configuration of its program.
remove-job-force = also while instances are online: they leave
cancel-run = Cancel the run
cancel-runs = Cancel all runs
cancel-warning = What runs is cut off and fails with this reason. It is not run again for its fire, also not with failover. Code that blocks goes on until it returns.
done-cancelled = Asked to end
rerun = Run again
rerun-about = The items see the scheduled time of this fire again. The jobs that run after this one follow, as it ends. The jobs before it are not asked.
done-rerun = The fire is run again
done-rerun-follow = The fire is run again, and after it, as it ends: { $jobs }
done-triggered = Triggered
done-without-instance = { $done } (without the items { $items }: no instance that is online and enabled has them, or theirs has yet to begin an older trigger)
done-enabled = Enabled
done-disabled = Disabled
done-shut-down = Asked to leave
done-removed = Removed
done-job-removed = The job { $job } was removed.
done-nothing = Nothing had to be changed.
outcome-unknown = It is not known whether it was done:

# Jobs
jobs = Jobs
job = Job
jobs-found = { $count ->
    [one] { $count } job
   *[other] { $count } jobs
}
jobs-none = No job is here, or none matches the filter. Jobs appear when a program with them starts.
jobs-select = Select at least one job.
many-done = { $done } ({ $count }):
many-failed = Failed ({ $count } of { $all }):
said-more = { $count } more
job-not-allowed = { $job }: the role operator is needed
after-jobs = after
one-off = one-off
one-off-detail = It is a one-off job: it runs when it is triggered.
next-fire = Next fire
last-run = Last run

# A job
pages-of-job = Pages of the job
tab-now = Now
tab-why = Why
configured = Configured
map = Which instance has which items; ↷ marks an item that was taken over
map-no-owner = no owner
map-no-items = no items
items-none = It has no items yet: they are made with its first fire.
items-part = Items { $first } to { $last } of { $found } that fit, of { $total } in all
items-none-found = None of the { $total } items fits the filter.
items-pages = Pages of the items
items-caption = { $count ->
    [one] { $count } item
   *[other] { $count } items
}
taken-over = taken over
servers-none = No server is known.
servers-of-job = Servers of the job
servers-found = { $count ->
    [one] { $count } server
   *[other] { $count } servers
}
server-unknown = No job that you may see knows this server.
jobs-of-server = { $count ->
    [one] { $count } job of the server
   *[other] { $count } jobs of the server
}
server-instances = Instances that are online there
server-owns = has { $items }
server-owns-none = has no item
server-runs = runs { $items }
disabled-by = disabled by { $actor }
disabled-by-reason = disabled by { $actor }: { $reason }
disabled-by-unknown = who disabled it is not recorded
disabled-jobs = Disabled in
why-job = The whole job
why-operators = What operators did last
why-operators-unread = What operators did cannot be read now:
why-nothing = Nothing is in the way.
why-items = Its items
why-items-part = { $shown } of { $total } items.
why-items-caption = Each item, with times in the zone { $zone }
why-at-carrier = At its carrier: { $why }
why-reasons = Why it runs, does not run, or did not run

# Schedule
schedule-caption = Coming fires; local times in the zone { $zone }
schedule-local = Local time
schedule-from-now = From now
schedule-note = Note
schedule-past = Expected against actual
schedule-past-caption = The last fires of the schedule, the newest first; times in the zone { $zone }
schedule-past-none = The schedule had no fire since the configuration was written.
schedule-expected = Expected
schedule-due = No run so far
schedule-untraced = No database of traces is read: of each item the run that began last is known, and whether fires since then began.
schedule-try = Try an expression
schedule-show = Show its fires
clock-repeated = This local time comes twice; it fires at the later one.
clock-skipped = The fire before it is skipped: clocks go forward then.

# Configuration
configuration-caption = What the registry center has; secrets are masked
configuration-overwrite = This job has overwrite: true. The next start of its program replaces what is changed here.
configuration-ignored = Parts without effect
configuration-stored = The stored text
setting-unit = Unit: { $unit }.
setting-default = Default: { $value }.
setting-if-empty = If empty: { $words }.
configuration-edit = Change the configuration
configuration-preview = Preview
configuration-quoted = Spaces around a value do not count. A value with line breaks or with spaces at its ends, and a key with `=`, are quoted as in JSON: `"first line\nsecond line"`. Properties are lines `KEY=value`.
configuration-save = Save
schedule-too-long = An expression has at most { $most } characters.
configuration-not-previewed = Nothing was changed: the values are not those of the preview that you saw. Look at this one, and save again.
configuration-carried = This is a carried job: its registration is written over this configuration each time it starts. Change the registration instead, with PUT /api/job/update of a scheduler, or on the page of the registered job on the console of the scheduler.
configuration-overwritten = overwrite is true: the next start of a program puts its own configuration back.
configuration-foreign = Not for Java instances of the job: { $value }
configuration-own-type = Not built in, so the programs of the job have to have it: { $value }
configuration-bound = Programs handle this in their own way: { $value }
configuration-without-parameter = Items that had a parameter and have none then: { $items }
configuration-moves = The next sharding moves items { $items } from { $from } to { $to }, with the instances that are online now.
configuration-new-items = The next sharding gives items { $items } to { $to }, with the instances that are online now.
configuration-moves-unknown = Which items move is not known here: the strategy is one of the programs.
configuration-property-changed = { $name }: changed
configuration-property-added = { $name }: added
configuration-property-removed = { $name }: removed
configuration-now = stored now:
configuration-fires = Coming fires, in UTC
configuration-before = Now
configuration-after = After the change
configuration-changed-meanwhile = Nothing was changed: another operator or program changed the configuration meanwhile. The form has your changes on top of what is stored now. Look at them, and save again.
configuration-meanwhile = Changed meanwhile
configuration-setting = Setting
configuration-base = When you began
configuration-theirs = Stored now
configuration-yours = Yours
configuration-taken = In the form
configuration-yours-kept = yours: both changed it
configuration-theirs-taken = what is stored now
cancel = Cancel

# History
history = History
history-executions = History trace
history-states = History status
history-decisions = Decisions and actions
history-executions-about = Each run of an item, the last one first. A time range has at most { $days } days; without one it is the last 7.
history-states-about = Each change of state of a run, the last one first. A time range has at most { $days } days; without one it is the last 7.
history-decisions-about = What was decided besides normal runs, and what operators did. A time range has at most { $days } days; without one it is the last 7.
history-ip = Server or instance
history-from = From
history-from-in = From ({ $zone })
history-until-in = Until ({ $zone })
history-not-traced = The console reads no database of traces, so it cannot know what ran.
history-not-traced-how = Set the database that the jobs write to, and start the console again:
history-unreadable = What was traced cannot be read now. Records may be there all the same; since when they cannot be read is not known.
history-none = Nothing was traced in this time range that matches the filter.
history-none-so-far = Nothing matches among the records that were read so far; go on with the next page.
history-caption = { $count ->
    [one] { $count } record, times in the zone { $zone }
   *[other] { $count } records, times in the zone { $zone }
}
history-pages = Pages of the list
history-file = at most { $count } rows
first-page = First page
result = Result
source = Source
start-time = Start
complete-time = End
duration = Took
scheduled-at = Scheduled for
instance = Instance
hostname = Host
time = Time
message = Message
execution-type = Type
outcome-succeeded = Succeeded
outcome-failed = Failed
outcome-no-end = No end recorded
source-normal = Schedule or trigger
source-misfire = Misfire
source-failover = Failover
state-staging = Staging
state-running = Running
state-finished = Finished
state-error = Error
state-failed = Failed
state-killed = Killed
decision-kind = Kind
decision-what = What was decided or done
kind-skipped = Skipped
kind-missed = Missed
kind-collapsed = Collapsed into a later fire
kind-not-begun = Not begun
kind-begun-late = Begun late
kind-not-started = Begun, not started
kind-taken-over = Taken over
kind-handed-over = Handed over
kind-runs-cancelled = Runs cancelled
kind-runs-abandoned = Runs abandoned
kind-stale = Outcome out of date
kind-trigger-dropped = Trigger dropped
kind-trigger-handed-over = Trigger handed over
kind-trigger-merged = Trigger merged
kind-trigger-leaves-out = Items left out
kind-configuration-changed = Configuration changed
kind-configuration-refused = Configuration refused
kind-configuration-differs = Configuration differs
kind-registered = Joined
kind-left = Left
kind-elected = Elected leader
kind-abdicated = Gave up leading
kind-resharded = Resharded
kind-strategy-failed = Strategy failed
kind-daemon-ends = Process ends
kind-place-lost = Place lost
kind-clock-off = Clock off
kind-clock-right = Clock right again
kind-registry-lost = Registry center lost
kind-registry-back = Registry center back
kind-operator = Action of an operator

# Overview
overview = Overview
overview-well = Well
overview-running = Running now
overview-changes = Last changes
overview-changes-unread = What operators did could not be read a moment ago, or nothing keeps it: below are configurations alone.
overview-changes-part = Not all actions of the last 7 days were read for this list, as there are many. The audit has all of them.
overview-change-not-recorded = no action is recorded: a program wrote it, or another console
overview-change-unread = the actions of that time are not read so far
overview-change-older = more than 7 days ago: the audit may have it
overview-changes-none = Nothing was changed in the last 7 days.
overview-change = Change
overview-configured = configuration written
overview-connections = Registry centers and traces
overview-registry = Registry center
traces-answer = answers
traces-silent = does not answer
traces-not-read = not read so far
overview-next = Next fires
overview-nothing = Every job is well.
overview-why = Why
overview-more = { $count } more
last-success = Last success
last-failure = Last failure
given-up = given up
concern = Needs a look
concern-overdue = Should have run and did not
concern-overdue-about = A fire was due, and no instance began it.
concern-daemon-ends = Processes end at their start
concern-daemon-ends-about = The processes of a DAEMON job end soon after each start. The log of the processes says why.
concern-carried-waits = Launched and not started
concern-carried-waits-about = The carrier has not started the items of a run, or a process of a DAEMON job. The reason says what they wait for.
concern-crashed = Without an instance
concern-crashed-about = No program with the job is online. Start one.
concern-configuration-refused = Configuration refused
concern-configuration-refused-about = The stored configuration cannot be used: instances keep the last good one, and new ones do not start.
concern-unassigned = Not assigned, or run lost
concern-unassigned-about = Items have no owner that is online, or their run was lost with its instance.
concern-failing = Failing
concern-failing-about = The last run of an item failed, or no instance finished it.
concern-disabled = Disabled
concern-disabled-about = An operator disabled the job on all servers, or some of its items.
concern-late = Late
concern-late-about = Its latest fire began 5 s or more after its time.
not-finished = no instance finished its run
since-unseen = Since when is not known: the console did not see it happen.
registry-lost = The registry center is lost since { $since }. What is shown is from then.
# Fires and runs
tab-runs = Runs
fire = Fire
began = Began
lateness = Late by
began-late = Began { $span } late
list-comma = ,{" "}
fire-recovered = Succeeded when run again
fire-partial = Ran in part
fire-partial-or-recovered = Ran in part, or succeeded when run again
fire-running = Running
run-lost = Lost, run again
items-done = { $count } done
items-failed = { $count } failed
items-running = { $count } running
items-no-end = { $count } without an end
items-not-run = { $count } did not run
mark-by-hand = by hand
mark-without-plan = scheduled time not recorded
mark-retried = run again
mark-cut = not all of its items
runs-marks = Notes
runs-none = No fire ran in this time range, and none should have, as far as it is known.
runs-caption = Fires, the newest first; times in the zone { $zone }
runs-no-run = { $count ->
    [one] No run recorded
   *[other] No run recorded of { $count } fires
}
runs-no-run-more = No run recorded of more than { $count } fires
runs-planned-since = The configuration was written last at { $time }. Fires that should have been before that time are not known.
runs-changed = Configuration changed
runs-scatter = How long fires took; times in the zone { $zone }
runs-scatter-about = How long { $count } fires took, over time. The table has the same fires.
runs-days = The last { $count } days; days of the zone { $zone }
runs-days-failed = runs failed, the darker the more
runs-days-missing = no run, and a fire should have been
runs-days-partial = some items did not run
runs-day = { $date }: { $count ->
    [one] { $count } run of an item
   *[other] { $count } runs of items
}, { $failed } failed, { $noEnd } without an end
runs-day-more = { $date }: { $count } runs of items or more; of the last { $count }, { $failed } failed, { $noEnd } have no end
runs-day-none = { $date }: no run
runs-day-missing = { $date }: no run, and a fire should have been
runs-day-partial = { $date }: { $count } runs of items; by the schedule { $missing } more should have been
weekday-monday = Mon
weekday-wednesday = Wed
weekday-friday = Fri
fire-gantt = The runs of its items; times in the zone { $zone }
fire-gantt-about = { $count } runs of items as bars over time. The table has the same runs.
fire-gantt-cut = The picture has the first { $shown } of { $count } runs; the table has them all.
fire-wait = waits
fire-waited = Waited
fire-runs = Runs of its items
fire-runs-caption = Each run of an item; times in the zone { $zone }
fire-missed = The schedule has this fire, and no run of it was recorded. What was decided about it says why; without a decision, no instance was there, or it traced nothing.
fire-unplanned = The schedule has no fire at this time, and no run of it was recorded.
fire-unknown = No run was recorded. Whether there should have been one is not known: the configuration was written later.
fire-decisions = Decisions about it, and of its time
fire-decisions-none = Nothing was decided about it besides normal runs, as far as it was recorded.
fire-decisions-caption = The oldest first; times in the zone { $zone }
fire-why-now = Why it runs or does not run now

# Timeline
timeline-now = now
timeline-from = From ({ $zone })
timeline-span = Span
timeline-show = Show
timeline = Timeline
timeline-earlier = earlier
timeline-later = later
timeline-missing = no run, and a fire should have been
timeline-coming = to come
timeline-ended = Fires
timeline-missed = Missing
timeline-fires = { $count } fires, { $sign }
timeline-cut = + { $folded } runs of items
timeline-cut-more = + at least { $folded } runs of items
timeline-folded = { $runs } runs of items, { $failed } failed, { $noEnd } without an end
timeline-folded-more = at least { $runs } runs of items, { $failed } failed, { $noEnd } without an end
timeline-folded-bar = runs of items before those shown one by one (at most { $count } of a job), by parts of the time
timeline-unsure = in the schedule, and not known whether it ran
timeline-unsure-count = { $count ->
    [one] { $count } fire of the schedule, not known whether it ran
   *[other] { $count } fires of the schedule, not known whether they ran
}
timeline-unsure-count-more = more than { $count } fires of the schedule, not known whether they ran
timeline-untraced = No database of traces is read, so this is what the registry center knows: of each item the run that began last, and fires since then that should have begun and did not. Of fires before, it knows the schedule, and not whether they ran. Java instances leave no record: of their runs those that go on now are shown.
timeline-untraced-how = To see all runs, set
timeline-caption = { $count ->
    [one] { $count } job
   *[other] { $count } jobs
} from { $from } until { $until }; times above the bars in the zone { $zone }

# What became of a fire in the past
past-at = At a past time
past-ask = Why?
past-now = Now
past-fire = The fire of { $at }
past-not-in-schedule = The schedule as it is now has no fire at this time, or within a minute after it.
past-unrecorded = No run and no decision is recorded for it: no instance of the job was there, the job was not traced, or its rows were removed.
past-cut = It has more runs or decisions than are read: these are the newest ones.
past-not-recorded = No run and no decision is recorded for this item: the instance that owned it may have died before it could record anything.
past-items-caption = The items of the fire; times of { $zone }
past-what = What happened
past-around = Around it
past-more = The fire with its runs
past-items = items { $items }
past-started = began { $at }
past-no-end = no end is recorded: it runs, or its process was killed
past-by-time = by its time alone: its fire is not recorded
past-ended-instance = an instance that has ended

# The actions of operators, and the logins
audit = Audit
audit-about = What operators did or tried to do, by the console, its API and the command line, the last one first. A time range has at most { $days } days; without one it is the last 7.
audit-in-memory = Nothing keeps them here: the last 1,000 actions of this console are shown until it ends, and its log has them. A data file keeps them:
audit-who = Who
audit-from = From
audit-by-page = page
audit-by-rest = REST API
audit-by-command-line = command line
audit-action = Action
audit-parts = Changed
audit-done = done
audit-unchanged = nothing to change
audit-refused = refused
access = Logins and refused requests
access-about = Logins to this console and refused callers since it started: at most the last 1,000 events. They also go to the log of the console.
access-about-kept = Logins to this console and refused callers: the events of 400 days, in the data file. Refusals of a kind on one day are counted together.
access-none = No login since the console started.
access-caption = { $count ->
    [one] One event
   *[other] { $count } events
}; times of { $zone }
access-from = From
access-event = Event
access-count = Times
access-logged-in = logged in
access-login-refused = login refused: wrong name or password
access-login-slowed = login put off: too many attempts
access-logged-out = logged out
access-token-refused = token refused
access-forbidden = request refused: the role is missing

# Schedules in words
words-comma = ,{" "}
words-list = ,{" "}
words-at = at { $times }
words-every-second = every second
words-every-seconds = every { $step } seconds
words-every-seconds-from = every { $step } seconds from second { $from }
words-every-minute = every minute
words-every-minutes = every { $step } minutes
words-every-minutes-from = every { $step } minutes from minute { $from }
words-minutes = each minute from { $from } to { $to } of each hour
words-at-minutes = at minute { $minutes } of each hour
words-every-hour = every hour
words-every-hour-at-minute = every hour at minute { $minute }
words-every-hour-at-second = every hour at minute { $minute }, second { $second }
words-every-hours = every { $step } hours from { $from }
words-hours = every hour from { $from } to { $to }
words-within = { $said } from { $from } to { $to }
words-every-day = every day
words-each-month = { $days } of each month
words-every-days = every { $step } days from day { $from }
words-days = from day { $from } to { $to }
words-on-days = on day { $days }
words-last-day = on the last day
words-before-last-day = { $count ->
    [one] { $count } day before the last day
   *[other] { $count } days before the last day
}
words-last-working-day = on the last working day
words-nearest-working-day = on the working day nearest to day { $day }
words-weekdays = { $from } to { $to }
words-on-weekdays = on { $days }
words-last-weekday = on the last { $day }
words-nth-weekday = on the { $nth ->
    [1] 1st
    [2] 2nd
    [3] 3rd
   *[other] { $nth }th
} { $day }
words-every-months = every { $step } months from { $from }
words-months = from { $from } to { $to }
words-in-months = in { $months }
words-years = from { $from } to { $to }
words-in-year = in { $years }
words-weekday = { $day ->
    [1] Sunday
    [2] Monday
    [3] Tuesday
    [4] Wednesday
    [5] Thursday
    [6] Friday
   *[other] Saturday
}
words-month = { $month ->
    [1] January
    [2] February
    [3] March
    [4] April
    [5] May
    [6] June
    [7] July
    [8] August
    [9] September
    [10] October
    [11] November
   *[other] December
}

# Strip of fires
strip = Last fires
strip-about = The last { $count } fires, the newest on the right; { $failed } failed
strip-unread = The last fires cannot be read.
strip-fire = { $at }: { $outcome }, { $done } of { $items } items done

# Copy as
same = Copy as curl or as a command
same-about-cloud = CLOUD is the address of the scheduler of carried jobs: that of this console without a path.
same-page = This page
same-about = CONSOLE is the address of this console, TOKEN a token of it. Words in capitals are yours to fill in. The command reads the settings of application.yaml in its folder.

# Settings of the console
settings = Settings
settings-connections = Registry centers
settings-connections-about = What the console is connected to. Registry centers and databases come from the settings of the console; no page adds one.
settings-registry-caption = The registry center { $name }; secrets are masked
settings-away = The console tries to connect again until it succeeds:
settings-traces = Database of traces
settings-of-program = as the program has it
settings-check-registry = Test the registry center
settings-check-traces = Test the database of traces
settings-answers = { $name } answers, after { $took } ms.
settings-no-answer = { $name } does not answer: { $why }
settings-no-such = There is no { $name } to test.
settings-users = Users
settings-user = User
settings-users-caption = { $count ->
    [one] One user
   *[other] { $count } users
}; times of { $zone }
settings-not-kept = Users and tokens of the settings are changed there. To change some here, start the console with a data file:
settings-roles = Roles
settings-role = Role
settings-of-registries = for registry centers
settings-of-jobs = for jobs
settings-enabled = may log in
settings-disabled = disabled
settings-of-file = of the settings
settings-changed-at = Changed
settings-change-user = Change { $name }
settings-change-about = A change ends the sessions of the user at once, and what programs stream with tokens of this user.
settings-new-password = New password
settings-password-made = The password of { $name }. It is shown this once:
settings-add-user = Add a user
settings-add-about = Without a password the console makes one. A password has 12 to 128 characters. * stands for any characters.
settings-tokens = Tokens
settings-tokens-none = No program has a token.
settings-tokens-caption = { $count ->
    [one] One token
   *[other] { $count } tokens
}; times of { $zone }
settings-owner = Owner
settings-expires = Expires
settings-tokens-ending = These have expired, or expire within { $days } days. Make another one before a program is refused.
settings-expired = expired
settings-never = never
settings-used-at = Last used
settings-days = Days until it expires
settings-make-token = Make a token
settings-token-made = The token { $name }, for the header Authorization: Bearer. It is shown this once:
settings-token-about = A program shows the token. It counts as long as you may do what it allows.
settings-sessions = Sessions
settings-sessions-caption = { $count ->
    [one] One session
   *[other] { $count } sessions
}; times of { $zone }
settings-sessions-about = A session ends after 12 hours without use and after 7 days, and when its user is changed.
settings-began = Began
settings-end-session = End
done-account = { $name }: done.
done-session-ended = The session was ended.
access-user-added = added a user
access-user-changed = changed a user
access-user-removed = removed a user
access-password-set = set a password
access-token-made = made a token
access-token-removed = removed a token
access-session-ended = ended a session

# The log of a run
log = Log
log-of-item = Log of item { $item }
log-level = Level, at least
log-contains = Contains
log-file = As a file
log-about = What the job logged while this item ran; times of { $zone }.
log-left-out = { $count ->
    [one] one line left out
   *[other] { $count } lines left out
}
log-more = Further lines
log-goes-on = The run goes on: further lines come by themselves.
log-end = The end of the log.
log-none = The job logged nothing in this run that is kept. Lines of tasks that it spawns count only with the span of the run.
log-none-match = No line matches.
log-off = The logs of runs are not kept: switch it on in the program of the job.

# Nodes of the registry center
nodes = Nodes
nodes-about = What the registry center has, as it is now. Secrets are masked; nothing can be changed here.
nodes-created = Created
nodes-changed = Changed
nodes-version = Version
nodes-session = Ends with the session
nodes-bytes = Bytes
nodes-name = Name
nodes-data = Data
nodes-none = It has no nodes below it.
nodes-caption = { $count ->
    [one] { $count } node below it
   *[other] { $count } nodes below it
}
nodes-dump = All nodes of the job { $job } as text
dump = Dump
dump-about = A dump has the nodes of a job as the registry center has them, with secrets masked. The console asks no dump port of an instance: no instance tells the registry center where its port is. For that, run `elasticjob dump --from HOST:PORT JOB`.

# Alarms
alarms = Alarms
alarm = Alarm
alarms-about = The problems that exist now. Alarms that no operator has acknowledged come first. An alarm ends by itself when its cause ends. The console sends no messages: the rules for Prometheus do.
alarms-none = No alarm.
alarms-caption = { $count ->
    [one] { $count } alarm
   *[other] { $count } alarms
}
alarm-registry-lost = Registry center lost
alarm-registry-lost-about = The console does not reach the registry center. Jobs may run or not; what is shown is from the time when it was lost.
alarm-runs-long = Runs long
alarm-runs-long-about = A run takes over three times as long as 95 of 100 runs before it, and over a minute.
alarm-usual = 95 of 100 runs take no longer than { $took }.
alarm-acknowledge = Acknowledge
alarm-acknowledged = Acknowledged

# Help
help = Help
help-words = Words
help-registry-center = Registry center
help-registry-center-is = A ZooKeeper, or the registry inside of one program, through which the instances of a job agree which instance runs which item. The console reads and writes it, and runs nothing itself.
help-job-is = Code with a name and a schedule. Programs on several hosts have the same job, and share its items.
help-fire-is = A time at which the schedule wants the job to run, or a trigger by hand. All items run for each fire.
help-item-is = A part of a job. A job is split into as many sharding items as its configuration says; each has one owner.
help-instance-is = A program that is online with the job. It is named by the address of its host and a number of its process.
help-server-is = The address of a host with instances. A disabled server keeps its instances from running from the next fire on.
help-leader-is = The instance that shares the items among all instances. Any other one takes over when it ends.
help-failover-is = Items that an instance began and did not end, as it died, are run again at once by another one, where failover is on.
help-misfire-is = A fire that came while the run before was still going on. With misfire on it runs right after that run.
help-jobs = States of a job
help-job-ok = It runs at its next fire.
help-job-disabled = An operator disabled it on all servers: it fires nowhere. Enable it on its page.
help-job-sharding-flag = Servers or items changed, and the items are shared again before the next fire begins. It passes by itself; a job that was never run has no items and shows it as well.
help-items = States of an item
help-item-running = It runs now.
help-item-pending = It waits for the next fire.
help-item-disabled = An operator disabled it: it is left out of fires.
help-item-sharding-flag = It has no owner yet.
help-ends = Ends of runs and fires
help-ends-about = A fire ends as the worst of its items. No end recorded: the process was killed, or its end is not written yet.
help-roles = Roles
help-roles-about = A role counts for the registry centers and jobs that it was given for, and includes those before it. On a read-only console all are viewers.
help-viewer = sees jobs, servers, history, alarms and configurations, with secrets masked
help-operator = runs jobs now; enables and disables jobs, items and servers; acknowledges alarms
help-editor = changes configurations
help-admin = shuts down instances; removes jobs and servers; sees nodes, dumps and logins
help-programs = For programs
help-programs-about = Each page says at its end how a program does the same.
help-openapi = what the REST API has, as OpenAPI 3.1
help-metrics = the state of all jobs, for Prometheus
help-health = whether the console runs, and whether it reaches its registry centers

# History of a configuration
history-of-configuration = History of the configuration
history-of-configuration-about = The versions that this console saw since it started, and the changes that the decision log has. A change between two looks may be missing: with a data file the console notes each one.
history-of-configuration-kept = The versions of the last 400 days, also those that other programs wrote, and the changes that the decision log has. Secrets are not kept.
history-version = Version
history-outside = outside of this console
history-first = the first version that is known
history-same = nothing that is shown
history-put-back = Put back
history-put-back-about = The form has the settings of version { $version }. Look at the preview, and save it to put them back.
history-stays = These have a secret, which is not kept, and stay as they are stored now: { $settings }

# Carried jobs
cloud = Carried jobs
cloud-none = No scheduler of carried jobs is here
cloud-none-detail = This console is not beside one. Open the console on the port of `elasticjob cloud`.
cloud-figures = Figures
cloud-app = Application
cloud-apps = Applications
cloud-jobs = Registered jobs
cloud-tasks = What runs and waits
cloud-apps-found = { $count ->
    [one] { $count } application
   *[other] { $count } applications
}
cloud-apps-none = No application is registered. Register one, and then its jobs.
cloud-jobs-none = No job is registered, or you may see none of them. A job belongs to an application: register that first.
cloud-new-app = Register an application
cloud-new-job = Register a job
cloud-register = Register
cloud-change = Change
cloud-change-of = Change { $name }
cloud-required = required
cloud-package = Package
cloud-command = Command
cloud-type = Type
cloud-registration = The registration; values whose names mean a secret are masked
cloud-app-about = A package, the command that starts it, and what its process needs beside its items. The registration decides which command runs.
cloud-job-about = A job runs each of its items as a process of its own. CPU and memory are those of one item.
cloud-enabled = enabled
cloud-disabled = disabled
cloud-app-disabled = Disabled: none of its jobs runs
cloud-job-disabled = Disabled: it does not fire
cloud-job-app-disabled = Its application is disabled: it does not fire
cloud-app-without-jobs = It has no job that you may see.
cloud-launches = Launches
cloud-launch = Launch
cloud-launches-none = The carrier knows no launch of it.
cloud-launches-about = { $count ->
    [one] { $count } launch that the carrier knows; the link leads to its log
   *[other] { $count } launches that the carrier knows; each link leads to its log
}
cloud-place = Place
cloud-log = Log of the processes
cloud-process = Process
cloud-log-process = Process { $process }
cloud-log-last = Item { $item }, last run
cloud-log-of = Item { $item } of { $launch }
cloud-log-cut = The log is longer: these are its last { $bytes } bytes.
cloud-log-empty = It wrote nothing.
cloud-job-pages = The same job as every other job:
cloud-remove-app = Remove the application
cloud-remove-app-warning = { $count ->
    [0] Its registration is deleted.
    [one] It is deleted with its job. What runs is stopped.
   *[other] It is deleted with its { $count } jobs. What runs is stopped.
}
cloud-remove-job = Remove the registration
cloud-remove-job-warning = The job fires no more, and what runs is stopped. Its history stays.
cloud-done-registered = { $name } is registered.
cloud-done-changed = { $name } is changed.
cloud-done-removed = { $name } was removed.
cloud-done-reconciled = The carrier was asked again.
cloud-transient = TRANSIENT jobs
cloud-daemon = DAEMON jobs
cloud-running = Running items
cloud-running-none = Nothing runs.
cloud-running-about = { $count ->
    [one] { $count } item that runs; times in the zone { $zone }
   *[other] { $count } items that run; times in the zone { $zone }
}
cloud-ready = Waiting jobs
cloud-ready-none = Nothing waits.
cloud-ready-about = { $count ->
    [one] { $count } job with items that wait, and why
   *[other] { $count } jobs with items that wait, and why
}
cloud-failover = Lost items
cloud-failover-none = No item is lost.
cloud-failover-about = { $count ->
    [one] { $count } item whose place or scheduler is gone, and that does not run again so far
   *[other] { $count } items whose place or scheduler is gone, and that do not run again so far
}
cloud-attempt = Attempt
cloud-stopping = is being stopped
cloud-lost-before = the place before was lost: { $why }
cloud-kind = Began as
cloud-before = Task before
cloud-misfired = A missed fire will be made up for.
cloud-reconcile = Ask the carrier again
cloud-reconcile-about = The scheduler reads again everything that it waits for. It is not needed in normal operation.
cloud-results = How runs ended
cloud-results-none = No run ended in this time.
cloud-results-about = Runs of items by the time of their end, failed ones on top, in the zone { $zone }; of the latest 100,000
cloud-last-hour = Last hour
cloud-last-day = Last 24 hours
cloud-last-week = Last 7 days
cloud-succeeded = { $count } well
cloud-failed = { $count } failed
cloud-well = Well
cloud-badly = Failed
cloud-ran = What ran
cloud-ran-about = Items that ran at each full hour, in the zone { $zone }
cloud-at-hour = Hour
cloud-as-table = As a table
cloud-registered = Registered jobs by day
cloud-registered-about = How many of the jobs of today were registered at the end of each day, in UTC
cloud-day = Day
cloud-field-app-name = Its name. It cannot be changed.
cloud-field-app-url = The package: file:, https: or oci:. #sha256=HEX at its end has it checked.
cloud-field-bootstrap = The command that starts it, in the folder of the package.
cloud-field-app-cpu = CPUs of a process, beside those of its items. Unset: 1.
cloud-field-app-memory = Memory of a process in MB, beside that of its items. Unset: 128.
cloud-field-app-cache = Whether a package that was fetched is kept for later runs.
cloud-field-sampling = Of so many runs of a DAEMON job one is traced. 0 and 1: each.
cloud-field-image = The image in which the package runs, for carriers that run images.
cloud-field-env = Environment variables, one NAME=value a line.
cloud-field-slurm = What the carrier SLURM asks for, one NAME=value a line: partition, account, qos, constraint, timeLimitMinutes.
cloud-field-job-name = Its name. It cannot be changed.
cloud-field-job-app = The application that its processes run.
cloud-field-type = TRANSIENT: a process for each run of an item. DAEMON: processes that stay, and schedule by themselves.
cloud-field-cron = When it fires. A TRANSIENT job without one, and without dependsOn, runs when it is triggered.
cloud-field-zone = The time zone of the expression. Unset: that of the scheduler.
cloud-field-depends-on = The jobs that it runs after, in place of cron, with commas between them: extract, load when ended items same.
cloud-field-items = How many items a fire is split into, at most 1,600.
cloud-field-item-parameters = The parameter of each item: 0=Beijing,1=Shanghai.
cloud-field-parameter = The parameter of the whole job.
cloud-field-job-cpu = CPUs of one item, at least 0.001.
cloud-field-job-memory = Memory of one item in MB, at least 1.
cloud-field-failover = Whether an item runs again when the place it ran on was lost.
cloud-field-misfire = Whether a fire that fell into a running one is made up for.
cloud-field-disabled = Whether a job that is registered begins disabled.
cloud-field-error-handler = What is done with a failed item. Unset: LOG.
cloud-field-description = What it is for.
cloud-field-grace = How many seconds a process may take to end before it is killed. Unset: 10.
cloud-field-instances = Processes of a DAEMON job. Unset: as many as it has items.
cloud-field-per-process = How many items share a process, where the carrier can do so. Unset: 1.
cloud-field-queue = The queue or partition of the carrier in which launches wait.
cloud-field-props = Properties of its program and of its error handler, one KEY=value a line.

# Reference of the API
help-api = Reference of the API
help-api-about = All routes of the REST API, with the role that each needs. The texts are those of the document for programs:
help-api-role = Role
help-api-body = Body
help-api-bodies = Bodies
help-api-parameters = Parameters
help-api-fields = Fields
help-api-name = Name
help-api-kind = Type
help-api-required = required

# Problems of the API
help-problems = Problems of the API
help-problems-about = Each answer that is an error has one of these codes. They never change; programs may rely on them.
help-problem-code = Code
help-problem-is = What it means
help-problem-remedy = What to do
problem-not-logged-in = The request has neither a session nor a token.
problem-not-logged-in-remedy = Log in, or send the header Authorization: Bearer with a token.
problem-unknown-token = The console knows no such token: it was removed, or never made.
problem-unknown-token-remedy = Ask an administrator for another one.
problem-expired-token = The token counted until the time that the detail names.
problem-expired-token-remedy = Ask for another one; a token counts for a year at most.
problem-token-without-owner = The user who made the token was removed, disabled, or may do less now.
problem-token-without-owner-remedy = Ask for a token of another user, or give the owner the roles again.
problem-forbidden = The caller is known, and lacks the role for this registry center or this job. On a read-only console no user has more than viewer.
problem-forbidden-remedy = Ask an administrator for the role that the detail names.
problem-wrong-host = A caller that shows neither a session nor a token called the console by a name that is not one of its names. A page of another host can make a browser do that.
problem-wrong-host-remedy = Log in, use http://127.0.0.1 on the host of the console, or add the name to elasticjob.console.allowed-hosts. Behind a proxy, let it pass on the header Host of the browser.
problem-foreign-origin = A page of another origin made a browser send a request that may change something; or a proxy before the console wrote another header Host than the browser did.
problem-foreign-origin-remedy = Use the pages of the console, or a program that is no browser. Let a proxy pass on the header Host of the browser, with its port.
problem-bad-request = A part of the path, a parameter or the body cannot be understood.
problem-bad-request-remedy = The detail says which; compare it with openapi.json.
problem-wrong-method = The API has this address, and not with this method.
problem-wrong-method-remedy = Take the method of openapi.json.
problem-too-large = The body is longer than the console reads: 256 KiB.
problem-too-large-remedy = Send less, for example fewer jobs in one operation.
problem-no-such-route = The API has no such address.
problem-no-such-route-remedy = Look it up in openapi.json; behind a proxy, compare elasticjob.console.base-path with the path of the proxy.
problem-no-such-registry = The console has no registry center of this name, or the caller may not see it.
problem-no-such-registry-remedy = GET /api/v1/registries lists those that the caller sees.
problem-no-such-job = The namespace has no job of this name.
problem-no-such-job-remedy = Compare the name and the namespace; a job appears when a program with it starts.
problem-no-such-item = The job has no item of this number.
problem-no-such-item-remedy = Items count from 0 to shardingTotalCount - 1.
problem-no-such-server = No job that the caller may see knows this server.
problem-no-such-server-remedy = GET .../servers lists those that there are.
problem-no-such-run = The traces have no such run of this job.
problem-no-such-run-remedy = It was removed with old traces, or the id is of another job.
problem-no-such-fire = The job has no such fire that could be run again: it is none of the schedule, or is to come, or the registry center does not know of it.
problem-no-such-fire-remedy = Take one of those that the detail names, or of GET .../fires. A job without a schedule and without jobs before it is triggered instead.
problem-no-such-version = The console knows no such version of the configuration.
problem-no-such-version-remedy = GET .../configuration/versions lists those that it knows.
problem-no-such-alarm = No alarm of this id holds now.
problem-no-such-alarm-remedy = It is over, or the caller may not see its job. GET .../alarms lists those that hold.
problem-no-such-node = The registry center has no such node in the namespace.
problem-no-such-node-remedy = It was deleted meanwhile, as nodes of runs and instances are.
problem-no-configuration = The job has nodes, and no configuration.
problem-no-configuration-remedy = Start a program with the job: it writes it.
problem-nothing-matched = The action fits nothing that there is.
problem-nothing-matched-remedy = Look at the job or the server again: it changed meanwhile.
problem-no-enabled-instance = No instance can run the job: none is online, or all are disabled.
problem-no-enabled-instance-remedy = Start a program with the job, or enable a server.
problem-nothing-runs = No item of the job runs that could be cancelled.
problem-nothing-runs-remedy = Look at the job again: the run has ended, or has not begun.
problem-not-rerun = The fire cannot be run again now: a manual trigger waits, execution is not monitored, or the configuration cannot be used.
problem-not-rerun-remedy = The detail says which. Try again when the trigger was taken, or trigger the job.
problem-instances-online = Only what is offline is removed, and instances are online.
problem-instances-online-remedy = Shut them down first; a job can be removed with force.
problem-unreadable-configuration = The stored configuration cannot be used, so that it cannot be changed in part.
problem-unreadable-configuration-remedy = Send the whole configuration with PUT.
problem-invalid-configuration = The configuration has mistakes. Nothing was changed.
problem-invalid-configuration-remedy = Each problem has the JSON pointer of its setting; mend all, and send it again. ?dryRun=true tries without a change.
problem-reason-required = The console insists on a reason for this action (elasticjob.console.require-reason), and none was given. Nothing was done.
problem-reason-required-remedy = Send reason with 1 to { $most } characters where the problem says: as a member of the body, or as a parameter of the query.
problem-carried-job = The job is a carried job. Its registration is written over the configuration each time it starts, so the change would be lost. Nothing was changed.
problem-carried-job-remedy = Change the registration: PUT /api/job/update of a scheduler (elasticjob cloud), or the page of the registered job on the console of the scheduler.
problem-no-version = A change needs the version that it is a change of.
problem-no-version-remedy = Send If-Match with the ETag of the configuration that was read.
problem-changed-meanwhile = Another operator or program changed it after it was read. Nothing was changed.
problem-changed-meanwhile-remedy = Read it again, and send the change with its new ETag.
problem-wrong-schedule = The cron expression or the time zone cannot be used.
problem-wrong-schedule-remedy = The detail says why; offset and end name the part.
problem-contended = Others wrote the same nodes again and again. A part may be done: see done.
problem-contended-remedy = Send it again after a second; what is done needs no change then.
problem-key-in-use = A request with this Idempotency-Key is not answered yet.
problem-key-in-use-remedy = Send it again after a second: the answer is that of the first one.
problem-key-reused = This Idempotency-Key came with another body before.
problem-key-reused-remedy = Make a new key for each request, and send the same one for a repetition alone.
problem-too-many-streams = The console has no place for one more stream of events.
problem-too-many-streams-remedy = Close pages that you do not need, or try again later.
problem-registry-unreachable = The registry center did not answer. With outcome: unknown it may have done what was asked.
problem-registry-unreachable-remedy = Look at /readyz and at the network. After an unknown outcome read the state before you send it again.
problem-registry-refused = The registry center answered with an error.
problem-registry-refused-remedy = The detail has it; often the digest lacks a right.
problem-not-traced = The console reads no database of traces, so that it knows no past.
problem-not-traced-remedy = Set elasticjob.tracing to the database that the jobs write to.
problem-traces-unreadable = The database of traces did not answer, or refused.
problem-traces-unreadable-remedy = The detail has its error. What is recorded is not lost by it.
problem-traces-busy = Other reads take all connections to the database of traces, and none became free in time.
problem-traces-busy-remedy = Send it again after a second. Where it comes again, ask for a shorter time range, and have the database looked at.
problem-data-unusable = The data file of the console cannot be read or written now.
problem-data-unusable-remedy = The log of the console has the cause; often the disk is full.
problem-not-kept = Users and tokens are changed in a data file, and this console has none.
problem-not-kept-remedy = Start it with --data FILE, or set elasticjob.console.data.
problem-unknown-name = There is no user, token or session of this name.
problem-unknown-name-remedy = It was removed meanwhile, or the name is mistyped.
problem-name-taken = A user or a token of this name exists already.
problem-name-taken-remedy = Choose another name, or change the one that exists.
problem-of-settings = The settings of the console have this user or token, and no page changes settings.
problem-of-settings-remedy = Change elasticjob.console-users or elasticjob.console.tokens, and start the console again.
problem-last-administrator = Without this user no user could administer the console.
problem-last-administrator-remedy = Give another user the role admin for everything first.
problem-invalid-account = The name, the password, the roles or the days of a user or token cannot be used.
problem-invalid-account-remedy = The detail says which, and what is right.
problem-no-password = The caller has no password in the data file of this console.
problem-no-password-remedy = A user of a company account changes the password there; a program has a token instead.
problem-wrong-password = The password that was given as the one that counts now does not count.
problem-wrong-password-remedy = Give the right one; an administrator can set another one without it.
problem-too-many-attempts = Wrong passwords were given again and again.
problem-too-many-attempts-remedy = Wait as long as the detail says.

# The own password
password = Your password
password-change = Change the password
password-now = Password now
password-new = New password
password-again = New password again
password-about = A password has 12 to 128 characters. A change ends your sessions in other browsers.
password-differ = The new passwords differ. Nothing was changed.
password-done = The password was changed. Your other sessions have ended.
password-of-settings = Your password is in the settings of the console: an administrator changes it there, with a hash of `elasticjob console hash-password`.
password-elsewhere = You log in with an account that is not of this console. Its password is changed where the account is.

alarms-in-memory = The console forgets acknowledgements of alarms when it ends. A data file keeps them:

# Login with the account of a company
login-company = Log in with your company account
login-company-away = The server of your company's accounts cannot be used now. The log of the console says why.
login-company-stale = That login took too long, was used before, or began in another browser. Try again.
login-company-refused = The server of your company's accounts did not let you in, or its answer does not count. The log of the console says why.
login-company-no-role = You are known as { $name }, and none of your groups has a role in this console. Ask an administrator.
access-logged-in-elsewhere = logged in with a company account
access-elsewhere-refused = login with a company account refused

# The graph of dependencies
graph = Graph
graph-none = No job runs after another one.
graph-hint = A job runs after others where its configuration has depends-on instead of cron. An arrow without a word: when all items succeeded.
graph-alone = The job runs after no other job, and no job runs after it.
graph-fire = The fire of
graph-no-fires = No fire yet
graph-fires = Other fires
graph-latest = The latest fire
graph-caption = { $count ->
    [one] { $count } job
   *[other] { $count } jobs, each right of those that it runs after
}
graph-about = { $count ->
    [one] { $count } job, which the table below has as well
   *[other] { $count } jobs and which runs after which; the table below has the same
}
graph-table = The jobs and how they stand for this fire; times of { $zone }
graph-too-many = These { $count } jobs are too many for a picture.
graph-more = { $shown } of { $count } groups of jobs are shown. The page of a job has its group.
graph-runs = Runs
graph-after = { $job }, when it { $when }
graph-when-failed = failed
graph-when-ended = ended
graph-items-same = item by item
graph-when-items-same = { $when }, item by item
graph-after-items = { $job }, { $items }
graph-due = Due
graph-not-begun = Not begun
graph-past = Over, not known how
graph-no-fire = No fire then
graph-not-there = does not exist yet
graph-not-visible = you may not see it
graph-cycle = These jobs wait for each other for ever: { $jobs }. Take one of them out of depends-on.
graph-why = Job { $job } { $end }, and this job runs when it { $when }.
graph-why-items = Items { $items } are not run: the item of { $job } with the same number { $end }, and this one runs when that one { $when }.
graph-end-succeeded = succeeded
graph-end-failed = failed
graph-end-skipped = was skipped
graph-end-unknown = ended, and how is not known any more
graph-end-no-fire = had no fire at that time
graph-rerun = run again
