//! When a job fires: the Quartz cron dialect, time zones and the rule for clock changes. Pure.
