use elasticjob::schedule::Schedule;

use super::*;
use crate::text::{Language, Texts};

/// An expression, its words in English, and in Chinese.
const SAID: [(&str, &str, &str); 34] = [
    ("0/5 * * * * ?", "every 5 seconds", "每 5 秒"),
    ("7/10 * * * * ?", "every 10 seconds from second 7", "从第 7 秒起每 10 秒"),
    ("* * * * * ?", "every second", "每秒"),
    ("*/1 * * * * ?", "every second", "每秒"),
    ("* * 9-17 * * ?", "every second from 09:00 to 17:59", "09:00 至 17:59 每秒"),
    ("0 * * * * ?", "every minute", "每分钟"),
    ("0 0/15 * * * ?", "every 15 minutes", "每 15 分钟"),
    ("0 */15 * * * ?", "every 15 minutes", "每 15 分钟"),
    (
        "0 3/15 8-18 ? * MON-FRI",
        "every 15 minutes from minute 3 from 08:00 to 18:59, Monday to Friday",
        "周一至周五，08:00 至 18:59 从第 3 分起每 15 分钟",
    ),
    ("0 0/10 22 * * ?", "every 10 minutes from 22:00 to 22:59", "22:00 至 22:59 每 10 分钟"),
    ("0 0,30 * * * ?", "at minute 0, 30 of each hour", "每小时第 0、30 分"),
    ("0 0-5 * * * ?", "each minute from 0 to 5 of each hour", "每小时第 0 至 5 分的每分钟"),
    ("0 0 * * * ?", "every hour", "每小时"),
    ("0 5 * * * ?", "every hour at minute 5", "每小时第 5 分"),
    ("30 5 * * * ?", "every hour at minute 5, second 30", "每小时第 5 分 30 秒"),
    ("0 10 0/2 * * ?", "every 2 hours from 00:10", "从 00:10 起每 2 小时"),
    ("0 0 9-17 * * ?", "every hour from 09:00 to 17:00", "09:00 至 17:00 每小时"),
    ("0 0 3 * * ?", "at 03:00, every day", "每天，03:00"),
    ("15 30 3,12 ? * *", "at 03:30:15, 12:30:15, every day", "每天，03:30:15、12:30:15"),
    ("0 30 9 ? * MON-FRI", "at 09:30, Monday to Friday", "周一至周五，09:30"),
    ("0 30 9 ? * 2,4", "at 09:30, on Monday, Wednesday", "周一、周三，09:30"),
    ("0 30 9 ? * L", "at 09:30, on Saturday", "周六，09:30"),
    ("0 0 0 1 * ?", "at 00:00, on day 1 of each month", "每月1日，00:00"),
    ("0 0 0 1,15 * ?", "at 00:00, on day 1, 15 of each month", "每月1、15日，00:00"),
    ("0 0 0 1-7 * ?", "at 00:00, from day 1 to 7 of each month", "每月1至7日，00:00"),
    ("0 0 0 1/3 * ?", "at 00:00, every 3 days from day 1 of each month", "每月从1日起每 3 天，00:00"),
    ("0 0 0 L * ?", "at 00:00, on the last day of each month", "每月最后一天，00:00"),
    ("0 0 0 L-2 * ?", "at 00:00, 2 days before the last day of each month", "每月最后一天之前 2 天，00:00"),
    ("0 0 0 LW * ?", "at 00:00, on the last working day of each month", "每月最后一个工作日，00:00"),
    ("0 0 0 15W * ?", "at 00:00, on the working day nearest to day 15 of each month", "每月最接近15日的工作日，00:00"),
    ("0 0 0 ? * 6L", "at 00:00, on the last Friday of each month", "每月最后一个周五，00:00"),
    ("0 0 0 ? 3 FRI#2", "at 00:00, on the 2nd Friday, in March", "3月，第 2 个周五，00:00"),
    ("0 0 0 1 1,JUL ? 2027", "at 00:00, on day 1, in January, July, in 2027", "2027 年，1月、7月，1日，00:00"),
    (
        "0 0 0 1 1/3 ? 2027-2030",
        "at 00:00, on day 1, every 3 months from January, from 2027 to 2030",
        "2027 年至 2030 年，从1月起每 3 个月，1日，00:00",
    ),
];

#[test]
fn schedules_are_said_in_both_languages() {
    let texts = Texts::load().expect("they load");
    for (cron, english, chinese) in SAID {
        Schedule::parse(cron, None).unwrap_or_else(|wrong| panic!("{cron}: {wrong}"));
        assert_eq!(of(texts.of(Language::English), cron).as_deref(), Some(english), "{cron}");
        assert_eq!(of(texts.of(Language::Chinese), cron).as_deref(), Some(chinese), "{cron}");
    }
}

#[test]
fn what_has_no_short_words_has_none() {
    let texts = Texts::load().expect("they load");
    for cron in [
        "0 0/5 0,12 * * ?",
        "0/5 7 * * * ?",
        "0 0 0,1,2,3,4,5,6 * * ?",
        "0 0 3 ? * MON-FRI/2",
        "0 0 3 ? * MONDAY",
        "1,2 * * * * ?",
        "0 0/0 * * * ?",
        "0 10-20/2 * * * ?",
        "0 0 0 1 1 ? 2027/2",
        "0 0 3 1,,2 * ?",
    ] {
        Schedule::parse(cron, None).unwrap_or_else(|wrong| panic!("{cron}: {wrong}"));
        assert_eq!(of(texts.of(Language::English), cron), None, "{cron}");
    }
    assert_eq!(of(texts.of(Language::English), "what is this"), None);
}
