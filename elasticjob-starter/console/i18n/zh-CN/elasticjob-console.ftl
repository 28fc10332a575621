# Frame
skip-to-content = 跳到正文
navigation = 页面
read-only = 只读
log-out = 退出登录
logged-out = 您已退出登录：本页不再更新。
not-followed = 此页面现在不会自动更新：打开的自动更新页面过多。请关闭其中一些；页面每 30 秒重试一次。
stale = 自 { $time } 起未更新：无法连接控制台。本页显示的是当时的状态；页面会自动重试，恢复后继续更新。
theme = 主题
theme-system = 跟随系统
theme-light = 浅色
theme-dark = 深色

# Login
log-in = 登录
login-name = 用户名
login-password = 密码
login-wrong = 用户名或密码错误。
login-wait = 尝试次数过多，请在 { $seconds } 秒后重试。

# Errors
error-no-page = 没有这个页面
error-no-page-detail = 地址有误，或本控制台没有该注册中心，或您无权查看。
error-forbidden = 您没有权限
error-registry-away = 无法连接注册中心
error-problem = 操作未成功
wrong-host = 这不是控制台的主机名
wrong-host-called = 访问控制台时使用的主机名：
wrong-host-why = 使用该主机名时，未登录者不能进入：其他网站可以把自己的主机名指向此地址。
wrong-host-login = 仅当您认识该主机名时，才在此登录：
wrong-host-open = 未登录的访问者可以从这里进入：
wrong-host-open-here = 在控制台所在主机上，未登录的访问者可以从这里进入：
wrong-host-setting = 如果它是控制台的主机名，请管理员将它加入此设置，然后重启控制台：
wrong-host-name = 不含端口：
wrong-host-proxy = 代理用此主机名替换了浏览器所用的主机名。请管理员让代理原样转发浏览器的此请求头：

# Words of all pages
all = 全部
none = 无
select = 选择
reason = 原因
needs-reason = 原因（必填）
export = 将这些作业的配置导出为 YAML
export-one = 导出为 YAML
compare = 比较注册中心
compare-about = { $here } 中作业的配置与另一注册中心的对照，敏感值已掩码。
compare-with = 与之比较
compare-show = 比较
compare-same = 这一部分中有 { $same } 个作业相同；两个注册中心共有 { $total } 个作业。
compare-caption = 不相同的作业
compare-only = 仅在 { $registry } 中
compare-differs = 不同
compare-unusable = { $registry } 中的配置无法使用
compare-unusable-both = 两边的配置均无法使用
compare-lost = 注册中心 { $registry } 自 { $since } 起失去连接，此处显示的是那时的状态。
compare-secret = 被掩码的内容不同
compare-one-registry = 这里没有其他注册中心可供比较。
needs-reason-to-disable = 原因（禁用时必填）
needs-reason-title = 需要填写原因
needs-reason-about = 此控制台要求：禁用、终止、删除、修改或取消时必须填写原因。尚未执行任何操作，您已填写的内容仍然保留。
needs-reason-missing = 请说明原因，最多 { $most } 个字符。原因会与操作一起记录。
needs-reason-go-on = 以此原因继续
since = 自
since-when = 起始时间
not-known = 未知
error = 错误
actions = 操作
removed = 已删除
previous-page = 上一页
next-page = 下一页
status = 状态
search = 搜索
sort = 排序
sort-name = 名称
filter = 筛选
items = 分片项
item = 分片项
instances = 实例
servers = 服务器
server = 服务器
owner = 所属实例
parameter = 参数
leader = 主节点
schedule = 调度
configuration = 配置
setting = 配置项
value = 值
cron = cron 表达式
time-zone = 时区
offline = 离线

# Times
seconds = { $number } 秒
minutes = { $number } 分钟
hours = { $number } 小时
days = { $number } 天
time-in = { $span }后
time-ago = { $span }前

# Actions
trigger = 触发
enable = 启用
disable = 禁用
shut-down = 终止
shut-down-or-remove = 终止或删除
shut-down-warning = 实例会完成正在运行的分片项后退出。控制台无法重新启动实例，需要重启其进程。
remove = 删除
remove-job = 删除作业
remove-job-warning = 作业的配置、分片项和运行记录都会被删除。实例再次启动时，会按其程序中的配置重新创建作业。
remove-job-force = 即使有实例在线也删除：实例会退出
cancel-run = 取消运行
cancel-runs = 取消所有运行
cancel-warning = 正在运行的分片项会被中断，并以此原因记为失败。本次触发不会再次运行，也不会失效转移。阻塞的代码会继续执行，直到返回。
done-cancelled = 已要求结束
rerun = 重新运行
rerun-about = 分片项看到的计划时间仍是这次触发的时间。在本作业之后运行的作业会随之重新运行；在它之前的作业不会。
done-rerun = 已重新运行这次触发
done-rerun-follow = 已重新运行这次触发，之后随之运行：{ $jobs }
done-triggered = 已触发
done-without-instance = { $done }（不含分片项 { $items }：没有在线且启用的实例持有它们，或其实例尚未执行更早的触发）
done-enabled = 已启用
done-disabled = 已禁用
done-shut-down = 已要求退出
done-removed = 已删除
done-job-removed = 作业 { $job } 已删除。
done-nothing = 无需更改。
outcome-unknown = 不确定操作是否已生效：

# Jobs
jobs = 作业
job = 作业
jobs-found = 共 { $count } 个作业
jobs-none = 没有作业，或没有符合筛选条件的作业。包含作业的程序启动后，作业会出现在这里。
jobs-select = 请至少选择一个作业。
many-done = { $done }（{ $count } 个）：
many-failed = 失败（共 { $all } 个，{ $count } 个未完成）：
said-more = 另有 { $count } 个
job-not-allowed = { $job }：需要 operator 角色
after-jobs = 在以下作业之后：
one-off = 一次性
one-off-detail = 一次性作业：触发时运行。
next-fire = 下次触发
last-run = 最近一次运行

# A job
pages-of-job = 作业的页面
tab-now = 当前状态
tab-why = 原因分析
configured = 配置更新时间
map = 各实例拥有的分片项；↷ 表示已被接管
map-no-owner = 没有所属实例
map-no-items = 没有分片项
items-none = 还没有分片项：首次触发时创建。
items-part = 符合条件的 { $found } 个分片项中的第 { $first } 至 { $last } 个，共 { $total } 个
items-none-found = { $total } 个分片项中没有符合筛选条件的。
items-pages = 分片项列表分页
items-caption = 共 { $count } 个分片项
taken-over = 失效转移
servers-none = 没有已知的服务器。
servers-of-job = 作业的服务器
servers-found = 共 { $count } 台服务器
server-unknown = 您可以查看的作业中没有使用这台服务器的。
jobs-of-server = 服务器上的作业：共 { $count } 个
server-instances = 该服务器上在线的实例
server-owns = 拥有 { $items }
server-owns-none = 没有分片项
server-runs = 正在运行 { $items }
disabled-by = 由 { $actor } 禁用
disabled-by-reason = 由 { $actor } 禁用：{ $reason }
disabled-by-unknown = 由谁禁用没有记录
disabled-jobs = 被禁用的作业数
why-job = 整个作业
why-operators = 操作人员最近的操作
why-operators-unread = 目前无法读取操作人员的操作：
why-nothing = 没有任何阻碍。
why-items = 各分片项
why-items-part = 共 { $total } 个分片项，本页 { $shown } 个。
why-items-caption = 各分片项；时间所用时区：{ $zone }
why-at-carrier = 在承载器上：{ $why }
why-reasons = 运行、不运行或未运行的原因

# Schedule
schedule-caption = 即将到来的触发；当地时间所用时区：{ $zone }
schedule-local = 当地时间
schedule-from-now = 距现在
schedule-note = 备注
schedule-past = 计划与实际
schedule-past-caption = 计划中最近的触发，最新的在前；时区 { $zone }
schedule-past-none = 自写入配置以来，计划中还没有触发。
schedule-expected = 应触发时间
schedule-due = 尚无运行
schedule-untraced = 未读取事件追踪数据库：只知道每个分片项最后一次开始的运行，以及此后的触发是否开始。
schedule-try = 试算表达式
schedule-show = 显示触发时间
clock-repeated = 该当地时间会出现两次，在较晚的一次触发。
clock-skipped = 此前有一次触发落在时钟跳过的时段内，不会发生。

# Configuration
configuration-caption = 注册中心中的配置；敏感信息已屏蔽
configuration-overwrite = 该作业设置了 overwrite: true，其程序下次启动时会覆盖在此所做的修改。
configuration-ignored = 不起作用的部分
configuration-stored = 存储的原文
setting-unit = 单位：{ $unit ->
    [items] 分片项
    [seconds] 秒
    [minutes] 分钟
   *[other] { $unit }
}。
setting-default = 默认值：{ $value }。
setting-if-empty = 不填时：{ $words }。
configuration-edit = 修改配置
configuration-preview = 预览
configuration-quoted = 值两端的空格不计。含有换行或两端有空格的值，以及含有 `=` 的键，按 JSON 的写法加引号：`"第一行\n第二行"`。属性每行一个，写作 `KEY=value`。
configuration-save = 保存
schedule-too-long = 表达式最多 { $most } 个字符。
configuration-not-previewed = 未作任何修改：这些值与您看到的预览不同。请查看此预览后再次保存。
configuration-carried = 该作业由 Cloud 调度器承载：每次启动时，其注册信息都会覆盖此配置。请改为修改注册信息：调用调度器的 PUT /api/job/update，或使用调度器控制台上该注册作业的页面。
configuration-overwritten = overwrite 为 true：程序下次启动时会恢复其自身的配置。
configuration-foreign = 不适用于该作业的 Java 实例：{ $value }
configuration-own-type = 非内置类型，作业的程序必须自带：{ $value }
configuration-bound = 程序以自己的方式处理：{ $value }
configuration-without-parameter = 原有参数而修改后没有参数的分片项：{ $items }
configuration-moves = 按当前在线的实例，下次分片时分片项 { $items } 将从 { $from } 移到 { $to }。
configuration-new-items = 按当前在线的实例，下次分片时分片项 { $items } 将分给 { $to }。
configuration-moves-unknown = 哪些分片项会移动在此未知：该分片策略由程序自带。
configuration-property-changed = { $name }：已修改
configuration-property-added = { $name }：已添加
configuration-property-removed = { $name }：已删除
configuration-now = 当前存储：
configuration-fires = 即将到来的触发（UTC）
configuration-before = 当前
configuration-after = 修改后
configuration-changed-meanwhile = 未作任何修改：其他操作员或程序在此期间修改了配置。表单已在当前存储的配置之上保留您的修改。请确认后再次保存。
configuration-meanwhile = 期间的修改
configuration-setting = 配置项
configuration-base = 您开始编辑时
configuration-theirs = 当前存储
configuration-yours = 您的值
configuration-taken = 表单采用
configuration-yours-kept = 您的值：双方都修改了
configuration-theirs-taken = 当前存储的值
cancel = 取消

# Findings; English comes from the library
finding-no-configuration = 作业没有配置：尚无实例启动过它，或者配置已被删除，而运行中的实例沿用原有配置；作业的程序下次启动时会写入配置。
finding-configuration-refused = 注册中心中的配置无法使用：{ $why }。实例继续使用最近一次可用的配置，修正后新实例才会启动。
finding-refused-by-instances = { $joined ->
    [true] 实例 { $instances } 的程序无法使用注册中心中的配置，继续使用最近一次可用的配置：“{ $why }”
   *[other] 实例 { $instances } 的程序无法使用注册中心中的配置，在可用之前不参与作业：“{ $why }”
}
finding-daemon-ends = 常驻作业的进程 { $process } 启动后很快退出，已有 { $ends } 次：“{ $why }”
finding-daemon-waits = 常驻作业的进程 { $process } 未能启动：“{ $why }”
finding-carried-waits = { $manual ->
    [true] { $fireAt } 的手动触发应在 { $carrier } 上运行，尚未确认在运行：“{ $why }”
   *[other] { $fireAt } 的触发应在 { $carrier } 上运行，尚未确认在运行：“{ $why }”
}
finding-no-instance = 没有实例在线。
finding-sessionless-instances = { $instances }：该实例节点不属于任何会话，因此那里没有存活的实例；节点是从别处复制来的。本实现的主节点会删除它，也可以执行 elasticjob shutdown。
finding-registration-disabled = 它的注册或其应用已禁用，因此没有调度器运行它：请在调度器上通过 `POST /api/job/NAME/enable` 或 `POST /api/app/NAME/enable`，或在其页面上启用。
finding-all-servers-disabled = 作业的所有服务器都已禁用。
finding-no-leader = 当前没有主节点，因此没有实例分配分片项。
finding-resharding = 主节点先重新分配分片项（分片待调整）。
finding-one-off = 一次性作业：触发时运行。
finding-after-jobs = 没有调度：在 { $jobs } 之后运行。
finding-totals-differ = 以 items same 方式在作业 { $job } 之后运行，但该作业有 { $itemsOfJob } 个分片项，本作业有 { $items } 个：两者的 sharding-total-count 相同之前不会运行。
finding-waits-for-item = { $fireAt } 的触发正在等待 { $jobs } 的同号分片项。
finding-skipped-after = { $fireAt } 的触发不运行，因为所依赖的作业没有以所等待的方式结束（{ $why }）。请先解决该问题，再触发本作业。
finding-never-fires-again = 调度已结束：不会再触发。
finding-triggered = 已被触发，但 { $instances } 尚未开始运行。
finding-java-takes-part = 有 Java 实例参与，它不留下触发记录：无法得知哪些触发没有任何实例开始执行。
finding-not-monitored = monitor-execution 已关闭：注册中心不知道正在运行或已经运行的内容。
finding-own-types = 配置中有非内置的类型：{ $types }。没有该类型的程序会继续使用最后一份可用的配置，并且不会启动本作业。
finding-bound-to-programs = { $notes }
finding-not-assigned-yet = 分片项尚未分配：将在首次触发时分配。
finding-no-such-item = 没有这个分片项：共有 { $items } 个分片项。
finding-item-disabled = 分片项已禁用。
finding-no-owner = 分片项不属于任何实例。
finding-owner-offline = 其所属实例 { $instance } 不在线。
finding-owner-disabled = 其所属实例 { $instance } 所在的服务器 { $server } 已禁用。
finding-running = { $takenOver ->
    [true] 正在 { $instance } 上运行，是失效转移的运行。
   *[other] 正在 { $instance } 上运行。
}
finding-run-lost = { $failover ->
    [true] 在 { $instance } 上的运行随进程丢失，等待失效转移。
    [false] 在 { $instance } 上的运行随进程丢失；未启用失效转移，因此不会重新运行。
   *[other] 在 { $instance } 上的运行随进程丢失；是否失效转移取决于其实例保留的配置。
}
finding-awaits-failover = 运行被中断，等待失效转移。
finding-misfired = 在运行期间又到了触发时间（{ $fireAt }），将在本次运行结束后补跑。
finding-not-begun = { $givenUp ->
    [true] 从 { $firstFireAt } 起的触发没有任何实例开始运行，且不会再运行。
   *[other] { $firstFireAt } 的触发还没有实例开始运行。
}
finding-left-undone = 最近一次运行（{ $fireAt } 的触发，{ $instance }）未完成，且不会重新运行：当时未启用失效转移。
finding-ended = { $state ->
    [SUCCEEDED] 最近一次运行（{ $fireAt } 的触发，{ $instance }）成功，用时 { $tookMilliseconds } 毫秒。
    [FAILED] 最近一次运行（{ $fireAt } 的触发，{ $instance }）失败：{ $error }
    [NOT_RUN] 最近一次触发（{ $fireAt }，{ $instance }）未运行：主机时钟有偏差。
   *[other] 最近一次运行（{ $fireAt } 的触发，{ $instance }）被中断。
}
finding-never-run = 没有运行记录。

# History
history = 历史
history-executions = 历史轨迹
history-states = 历史状态
history-decisions = 决策与操作审计
history-executions-about = 每个分片项的每次执行，最新的在前。时间范围最长 { $days } 天，不填则为最近 7 天。
history-states-about = 作业运行的每次状态变更，最新的在前。时间范围最长 { $days } 天，不填则为最近 7 天。
history-decisions-about = 正常执行之外的各项决策，以及运维人员的操作。时间范围最长 { $days } 天，不填则为最近 7 天。
history-ip = 服务器 IP 或实例
history-from = 开始时间
history-from-in = 开始时间（{ $zone }）
history-until-in = 结束时间（{ $zone }）
history-not-traced = 控制台没有配置事件追踪数据源，因此无法得知执行历史。
history-not-traced-how = 请配置作业所写入的数据库，然后重启控制台：
history-unreadable = 目前无法读取追踪数据。数据可能仍然存在；从何时起无法读取尚不清楚。
history-none = 该时间范围内没有符合条件的追踪记录。
history-none-so-far = 目前读取的记录中没有符合条件的，请继续查看下一页。
history-caption = { $count } 条记录，时区 { $zone }
history-pages = 列表分页
history-file = 最多 { $count } 行
first-page = 第一页
result = 执行结果
source = 执行来源
start-time = 开始执行时间
complete-time = 执行结束时间
duration = 耗时
scheduled-at = 计划时间
instance = 作业实例
hostname = 主机名
time = 时间
message = 消息
execution-type = 执行类型
outcome-succeeded = 成功
outcome-failed = 失败
outcome-no-end = 未记录结束
source-normal = 正常触发
source-misfire = 错过重执行
source-failover = 失效转移
state-staging = 等待运行
state-running = 运行中
state-finished = 已完成
state-error = 运行出错
state-failed = 运行失败
state-killed = 已终止
decision-kind = 类型
decision-what = 决策或操作内容
kind-skipped = 跳过
kind-missed = 错过
kind-collapsed = 合并到后续触发
kind-not-begun = 未开始
kind-begun-late = 延迟开始
kind-not-started = 已登记但未启动
kind-taken-over = 失效转移接管
kind-handed-over = 移交
kind-runs-cancelled = 执行已取消
kind-runs-abandoned = 执行被放弃
kind-stale = 结果已过期
kind-trigger-dropped = 手动触发丢失
kind-trigger-handed-over = 手动触发移交
kind-trigger-merged = 手动触发合并
kind-trigger-leaves-out = 手动触发遗漏
kind-configuration-changed = 配置已变更
kind-configuration-refused = 配置被拒绝
kind-configuration-differs = 配置不一致
kind-registered = 实例上线
kind-left = 实例下线
kind-elected = 当选主节点
kind-abdicated = 放弃主节点
kind-resharded = 重新分片
kind-strategy-failed = 分片策略失败
kind-daemon-ends = 进程反复结束
kind-place-lost = 运行位置丢失
kind-clock-off = 时钟偏差
kind-clock-right = 时钟恢复
kind-registry-lost = 与注册中心断开
kind-registry-back = 注册中心恢复
kind-operator = 运维操作

# Overview
overview = 总览
overview-well = 正常
overview-running = 正在运行
overview-changes = 最近的变更
overview-changes-unread = 刚才无法读取操作员的操作，或者没有保存：下面只有配置变更。
overview-changes-part = 最近 7 天的操作很多，此列表没有读取全部。审计页面有全部操作。
overview-change-not-recorded = 没有操作记录：由程序或其他控制台写入
overview-change-unread = 尚未读取该时间的操作
overview-change-older = 超过 7 天：审计中可能有记录
overview-changes-none = 最近 7 天没有变更。
overview-change = 变更
overview-configured = 写入了配置
overview-connections = 注册中心与追踪数据
overview-registry = 注册中心
traces-answer = 有应答
traces-silent = 无应答
traces-not-read = 尚未读取
overview-next = 即将触发
overview-nothing = 所有作业均正常。
overview-why = 原因
overview-more = 另有 { $count } 个
last-success = 最近成功
last-failure = 最近失败
given-up = 已放弃
concern = 需要关注
concern-overdue = 应运行而未运行
concern-overdue-about = 已到触发时间，但没有实例开始运行。
concern-daemon-ends = 进程启动后即退出
concern-daemon-ends-about = 常驻作业的进程每次启动后很快退出，原因见进程日志。
concern-carried-waits = 已提交但未启动
concern-carried-waits-about = 运行已提交给承载引擎，但分片项或常驻作业的进程尚未启动，原因见下。
concern-crashed = 无在线实例
concern-crashed-about = 没有包含该作业的程序在线，请启动程序。
concern-configuration-refused = 配置被拒绝
concern-configuration-refused-about = 注册中心中的配置无法使用：在线实例沿用上一份有效配置，新实例无法启动。
concern-unassigned = 未分配或运行丢失
concern-unassigned-about = 分片项没有在线的属主，或其运行随实例一起丢失。
concern-failing = 执行失败
concern-failing-about = 某个分片项最近一次运行失败，或没有实例完成该运行。
concern-disabled = 已禁用
concern-disabled-about = 运维人员在所有服务器上禁用了该作业，或禁用了部分分片项。
concern-late = 延迟
concern-late-about = 最近一次触发比预定时间晚 5 秒或更久才开始运行。
not-finished = 没有实例完成其运行
since-unseen = 何时开始未知：当时控制台没有看到。
registry-lost = 注册中心自 { $since } 起失去连接，当前显示的是那时的状态。
# Fires and runs
tab-runs = 触发记录
fire = 触发
began = 开始时间
lateness = 延迟
began-late = 晚 { $span } 开始
list-comma = ，
fire-recovered = 重新运行后成功
fire-partial = 只运行了一部分
fire-partial-or-recovered = 只运行了一部分，或重新运行后成功
fire-running = 运行中
run-lost = 已丢失并重新运行
items-done = { $count } 个完成
items-failed = { $count } 个失败
items-running = { $count } 个运行中
items-no-end = { $count } 个未记录结束
items-not-run = { $count } 个没有运行
mark-by-hand = 手动触发
mark-without-plan = 未记录计划时间
mark-retried = 重新运行
mark-cut = 仅部分分片项
runs-marks = 备注
runs-none = 据目前所知，该时间范围内没有触发，也不应有触发。
runs-caption = 触发记录，最新的在前；时区 { $zone }
runs-no-run = { $count ->
    [one] 没有运行记录
   *[other] { $count } 次触发没有运行记录
}
runs-no-run-more = 超过 { $count } 次触发没有运行记录
runs-planned-since = 配置最近一次写入于 { $time }。此前应有的触发无从得知。
runs-changed = 配置变更
runs-scatter = 每次触发的耗时；时区 { $zone }
runs-scatter-about = { $count } 次触发的耗时随时间的变化，表格中有相同的触发。
runs-days = 最近 { $count } 天；日期所用时区：{ $zone }
runs-days-failed = 有运行失败，颜色越深失败越多
runs-days-missing = 应有触发但没有运行
runs-days-partial = 部分分片项没有运行
runs-day = { $date }：分片项运行 { $count } 次，失败 { $failed } 次，未记录结束 { $noEnd } 次
runs-day-more = { $date }：分片项运行 { $count } 次或更多；最近 { $count } 次中失败 { $failed } 次，未记录结束 { $noEnd } 次
runs-day-none = { $date }：没有运行
runs-day-missing = { $date }：应有触发但没有运行
runs-day-partial = { $date }：分片项运行 { $count } 次；按计划还应有 { $missing } 次
weekday-monday = 周一
weekday-wednesday = 周三
weekday-friday = 周五
fire-gantt = 各分片项的运行；时区 { $zone }
fire-gantt-about = { $count } 次分片项运行，以时间条表示，表格中有相同的运行。
fire-gantt-cut = 图中为 { $count } 次运行中的前 { $shown } 次，表格中为全部。
fire-wait = 等待
fire-waited = 等待时长
fire-runs = 各分片项的运行
fire-runs-caption = 分片项的每次运行；时区 { $zone }
fire-missed = 调度中有这次触发，但没有运行记录。原因见相关决策；如果没有决策，则当时没有实例，或实例没有追踪。
fire-unplanned = 调度在该时间没有触发，也没有运行记录。
fire-unknown = 没有运行记录。是否应有触发无从得知：配置是后来写入的。
fire-decisions = 有关它及当时的决策
fire-decisions-none = 据记录，除正常执行外没有其他决策。
fire-decisions-caption = 最早的在前；时区 { $zone }
fire-why-now = 当前运行或不运行的原因

# Timeline
timeline-now = 现在
timeline-from = 自（{ $zone }）
timeline-span = 时长
timeline-show = 查看
timeline = 时间线
timeline-earlier = 更早
timeline-later = 更晚
timeline-missing = 应有触发但没有运行
timeline-coming = 即将触发
timeline-ended = 触发
timeline-missed = 缺失
timeline-fires = { $count } 次触发，{ $sign }
timeline-cut = 另有 { $folded } 次分片项运行
timeline-cut-more = 另有至少 { $folded } 次分片项运行
timeline-folded = { $runs } 次分片项运行，{ $failed } 次失败，{ $noEnd } 次无结束
timeline-folded-more = 至少 { $runs } 次分片项运行，{ $failed } 次失败，{ $noEnd } 次无结束
timeline-folded-bar = 未逐一显示的较早分片项运行（每个作业最多逐一显示 { $count } 次），按时段合并
timeline-unsure = 计划中有触发，是否运行无从得知
timeline-unsure-count = 计划中的 { $count } 次触发，是否运行无从得知
timeline-unsure-count-more = 计划中的 { $count } 次以上触发，是否运行无从得知
timeline-untraced = 未读取事件追踪数据库，因此只显示注册中心所知道的：每个分片项最后一次开始的运行，以及此后应有而没有开始的触发。更早的触发只知道计划，不知道是否运行过。Java 实例不留记录，只能看到正在运行的。
timeline-untraced-how = 要查看所有运行，请设置
timeline-caption = 共 { $count } 个作业，{ $from } 至 { $until }；条形上方时间的时区：{ $zone }

# What became of a fire in the past
past-at = 过去的时间
past-ask = 为什么？
past-now = 现在
past-fire = { $at } 的触发
past-not-in-schedule = 按现在的调度，此时及其后一分钟内没有触发。
past-unrecorded = 没有该次触发的运行或决定记录：当时没有作业实例、作业未启用事件追踪，或记录已被清除。
past-cut = 其运行或决策多于所读取的数量：这里是最新的部分。
past-not-recorded = 没有该分片项的运行或决定记录：其所属实例可能在记录之前就已终止。
past-items-caption = 该次触发的分片项；时间为 { $zone } 时区
past-what = 发生了什么
past-around = 前后发生的事
past-more = 该次触发及其运行
past-items = 分片项 { $items }
past-started = 开始于 { $at }
past-no-end = 没有结束记录：仍在运行，或其进程被终止
past-by-time = 仅按时间归入：没有记录其触发
past-ended-instance = 一个已结束的实例

# Decisions; English comes from the library
decision-of-skipped = 未在此运行：{ $reason }
decision-of-missed = 错过了从 { $first } 起的触发（进程停止或时钟跳变），从 { $until } 继续
decision-of-collapsed = 错过的 { $first } 的触发由 { $until } 的触发代替
decision-of-not-begun = 从 { $first } 起的触发没有任何实例开始运行，且不会再运行；从 { $until } 的触发继续
decision-of-begun-late = 延迟 { $late } 秒开始：{ $reason }
decision-of-not-started = 已登记但未启动：{ $reason }
decision-of-taken-over = 从 { $other } 接管了分片项：其运行已丢失
decision-of-handed-over = 运行被中断：等待其他实例接管
decision-of-runs-cancelled = 执行已取消：{ $reason }
decision-of-runs-abandoned = 运行被中断，但代码没有结束：实例未等它就离开了
decision-of-stale = 该运行结束时，其分片项的另一次运行已经开始：未记录其结果
decision-of-trigger-dropped = 手动触发的对象 { $other } 已不存在：未代为运行
decision-of-trigger-handed-over = 手动触发的对象 { $other } 已不存在：由其他实例接手
decision-of-trigger-merged = 手动触发的对象 { $other } 已不存在：此前的运行尚未结束，不再为其运行一次
decision-of-trigger-leaves-out = 手动触发的对象都不持有该分片项：可能未为其运行
decision-of-configuration-changed = 配置已变更并生效
decision-of-configuration-refused = 注册中心中的配置无法使用：{ $reason }
decision-of-configuration-differs = { $overwritten ->
    [true] 覆盖了注册中心中的配置：{ $reason }
   *[other] 程序中的配置与注册中心不同：{ $reason }
}
decision-of-registered = 加入作业组
decision-of-left = 离开作业组 { $reason }
decision-of-elected = 成为主节点
decision-of-abdicated = 放弃主节点：其服务器已禁用
decision-of-resharded = { $hasMoved ->
    [true] 已分配分片项：{ $moved }{ $hasMore ->
        [true] ，另有 { $more } 项
       *[other] {""}
    }
   *[other] 已分配分片项：没有变动
}
decision-of-strategy-failed = 分片策略失败，改用 AVG_ALLOCATION：{ $reason }
decision-of-place-lost = 第 { $attempt } 次尝试的运行位置 { $place } 已丢失：{ $why }
decision-of-daemon-ends = 进程 { $process } 启动后不久已结束 { $ends } 次：{ $why }
decision-of-clock-off = 本机时钟与注册中心相差 { $difference } 毫秒
decision-of-clock-right = 时钟与注册中心恢复一致
decision-of-registry-lost = 与注册中心的连接断开
decision-of-registry-back = 重新连接到注册中心
decision-of-operator = 操作员 { $actor }：{ $action } { $parts } { $hasAfter ->
    [true] （{ $before } → { $after }）
   *[other] {""}
}{ $outcome ->
    [done] {""}
   *[other] （{ $outcome }：{ $error }）
} { $reason }
reason-still-running = 上一次运行尚未结束
reason-begin-unknown = 注册中心没有应答，到下一次触发时仍不知道上一次触发是否已开始
reason-runs-elsewhere = 该分片项正在 { $other } 上运行
reason-decided-ahead = { $other } 已经开始或决定不运行今后 { $seconds } 秒内的触发：某个时钟有或曾有这么大的偏差；所有主机时钟一致后，删除节点 `sharding/ITEM/fire` 可立即恢复运行
reason-awaiting-failover = 先要接管之前触发中丢失的运行
reason-refused = 注册中心一直拒绝开始该运行
reason-not-begun-in-time = 在能够开始之前，下一次触发已到
reason-server-disabled = 服务器已禁用
reason-item-disabled = 分片项已禁用
reason-clock-off = 本机时钟与注册中心相差 { $difference } 毫秒
reason-owner-gone = 静态分片把该分片项留给 { $other }，而它不在线
reason-leaving = 实例正在离开
reason-registry-lost = 与注册中心的连接断开
reason-too-late = 没有实例开始运行，已延迟 { $late } 秒，最多允许延迟 { $limit } 秒
reason-item-dependency-not-met = 所依赖作业的同号分片项没有以本分片项等待的方式结束
reason-dependency-not-met = 所依赖的作业没有以本作业等待的方式结束
reason-registered-since = 按注册中心的时钟，该作业在这次触发到期 { $milliseconds } 毫秒之后才注册，没有此前运行的记录：本机时钟偏慢
reason-maybe-run-by-java = 没有开始运行的记录，但 Java 实例可能已运行而未记录，因此不再延迟运行

# What operators did, and who came in
audit = 审计
audit-about = 操作员通过控制台、API 和命令行执行或尝试执行的操作，最近的在前。时间范围最多 { $days } 天；未指定时为最近 7 天。
audit-in-memory = 此处没有持久保存：只显示本控制台最近 1,000 次操作，直到它结束；日志中也有记录。数据文件可以保留它们：
audit-who = 操作者
audit-from = 来源
audit-by-page = 页面
audit-by-rest = REST API
audit-by-command-line = 命令行
audit-action = 操作
audit-parts = 变更内容
audit-done = 已完成
audit-unchanged = 无需变更
audit-refused = 被拒绝
access = 登录与被拒绝的请求
access-about = 本控制台启动以来谁登录、谁被拒绝：最多保留最近 1,000 个事件，同时写入控制台日志。
access-about-kept = 登录过本控制台与被拒绝的记录：数据文件中保留 400 天。同一天的同类拒绝合并计数。
access-none = 控制台启动以来无人登录。
access-caption = { $count } 个事件；时间为 { $zone } 时区
access-from = 来源
access-event = 事件
access-count = 次数
access-logged-in = 登录
access-login-refused = 登录被拒绝：用户名或密码错误
access-login-slowed = 登录被推迟：尝试次数过多
access-logged-out = 退出登录
access-token-refused = 令牌被拒绝
access-forbidden = 请求被拒绝：缺少角色

# Schedules in words
words-comma = ，
words-list = 、
words-at = { $times }
words-every-second = 每秒
words-every-seconds = 每 { $step } 秒
words-every-seconds-from = 从第 { $from } 秒起每 { $step } 秒
words-every-minute = 每分钟
words-every-minutes = 每 { $step } 分钟
words-every-minutes-from = 从第 { $from } 分起每 { $step } 分钟
words-minutes = 每小时第 { $from } 至 { $to } 分的每分钟
words-at-minutes = 每小时第 { $minutes } 分
words-every-hour = 每小时
words-every-hour-at-minute = 每小时第 { $minute } 分
words-every-hour-at-second = 每小时第 { $minute } 分 { $second } 秒
words-every-hours = 从 { $from } 起每 { $step } 小时
words-hours = { $from } 至 { $to } 每小时
words-within = { $from } 至 { $to } { $said }
words-every-day = 每天
words-each-month = 每月{ $days }
words-every-days = 从{ $from }日起每 { $step } 天
words-days = { $from }至{ $to }日
words-on-days = { $days }日
words-last-day = 最后一天
words-before-last-day = 最后一天之前 { $count } 天
words-last-working-day = 最后一个工作日
words-nearest-working-day = 最接近{ $day }日的工作日
words-weekdays = { $from }至{ $to }
words-on-weekdays = { $days }
words-last-weekday = 最后一个{ $day }
words-nth-weekday = 第 { $nth } 个{ $day }
words-every-months = 从{ $from }起每 { $step } 个月
words-months = { $from }至{ $to }
words-in-months = { $months }
words-years = { $from } 年至 { $to } 年
words-in-year = { $years } 年
words-weekday = { $day ->
    [1] 周日
    [2] 周一
    [3] 周二
    [4] 周三
    [5] 周四
    [6] 周五
   *[other] 周六
}
words-month = { $month }月

# Strip of fires
strip = 最近的触发
strip-about = 最近 { $count } 次触发，最新的在右侧，其中 { $failed } 次失败
strip-unread = 无法读取最近的触发。
strip-fire = { $at }：{ $outcome }，{ $items } 个分片项中完成 { $done } 个

# Copy as
same = 复制为 curl 或命令
same-about-cloud = CLOUD 是云作业调度器的地址：即此控制台的地址，不含路径。
same-page = 本页面
same-about = CONSOLE 是本控制台的地址，TOKEN 是其令牌。大写单词由您填写。命令读取其所在目录中 application.yaml 的设置。

# Settings of the console
settings = 设置
settings-connections = 注册中心
settings-connections-about = 控制台所连接的注册中心与数据库。它们来自控制台的配置，页面上不能添加。
settings-registry-caption = 注册中心 { $name }；敏感值已掩码
settings-away = 正在反复重新连接：
settings-traces = 事件追踪数据源
settings-of-program = 与程序相同
settings-check-registry = 测试注册中心
settings-check-traces = 测试事件追踪数据源
settings-answers = { $name } 在 { $took } 毫秒内应答。
settings-no-answer = { $name } 没有应答：{ $why }
settings-no-such = 没有可测试的 { $name }。
settings-users = 用户
settings-user = 用户
settings-users-caption = { $count } 个用户；时间为 { $zone } 时区
settings-not-kept = 配置文件中的用户和令牌只能在配置文件中修改。若要在此修改，请用数据文件启动控制台：
settings-roles = 角色
settings-role = 角色
settings-of-registries = 适用的注册中心
settings-of-jobs = 适用的作业
settings-enabled = 可以登录
settings-disabled = 已禁用
settings-of-file = 来自配置
settings-changed-at = 修改时间
settings-change-user = 修改 { $name }
settings-change-about = 修改后，该用户的会话立即结束，使用其令牌的程序的事件流也立即结束。
settings-new-password = 新密码
settings-password-made = { $name } 的密码，仅显示这一次：
settings-add-user = 添加用户
settings-add-about = 不填密码时由控制台生成。密码为 12 到 128 个字符。* 代表任意字符。
settings-tokens = 令牌
settings-tokens-none = 没有程序令牌。
settings-tokens-caption = { $count } 个令牌；时间为 { $zone } 时区
settings-owner = 所有者
settings-expires = 到期时间
settings-tokens-ending = 以下令牌已过期，或将在 { $days } 天内过期。请在程序被拒绝之前另建令牌。
settings-expired = 已过期
settings-never = 从不
settings-used-at = 最近使用
settings-days = 有效天数
settings-make-token = 生成令牌
settings-token-made = 令牌 { $name }，用于请求头 Authorization: Bearer，仅显示这一次：
settings-token-about = 程序出示该令牌。只要您仍有它所允许的权限，它就有效。
settings-sessions = 会话
settings-sessions-caption = { $count } 个会话；时间为 { $zone } 时区
settings-sessions-about = 会话在 12 小时未使用或满 7 天后结束，用户被修改时也会结束。
settings-began = 开始时间
settings-end-session = 结束
done-account = { $name }：完成。
done-session-ended = 会话已结束。
access-user-added = 添加了用户
access-user-changed = 修改了用户
access-user-removed = 删除了用户
access-password-set = 设置了密码
access-token-made = 生成了令牌
access-token-removed = 删除了令牌
access-session-ended = 结束了会话

# 执行日志
log = 日志
log-of-item = 分片 { $item } 的日志
log-level = 最低级别
log-contains = 包含
log-file = 下载文件
log-about = 作业在执行该分片期间输出的日志；时间为 { $zone } 时区。
log-left-out = 省略了 { $count } 行
log-more = 后续日志
log-goes-on = 仍在执行：新的日志会自动显示。
log-end = 日志到此结束。
log-none = 本次执行没有留下日志。作业自行创建的任务，只有带上执行的 span 才会计入。
log-none-match = 没有匹配的日志。
log-off = 未保存执行日志：请在作业所在的程序中开启。

# Nodes of the registry center
nodes = 节点
nodes-about = 注册中心当前的内容。密钥已屏蔽；此处不能修改任何内容。
nodes-created = 创建时间
nodes-changed = 修改时间
nodes-version = 版本
nodes-session = 随会话结束
nodes-bytes = 字节数
nodes-name = 名称
nodes-data = 数据
nodes-none = 其下没有节点。
nodes-caption = 其下有 { $count } 个节点
nodes-dump = 作业 { $job } 的全部节点（文本）
dump = 导出
dump-about = 导出内容是注册中心中该作业的节点，密钥已屏蔽。控制台不访问实例的 dump 端口：实例不会在注册中心登记该端口。如需访问，请运行 `elasticjob dump --from HOST:PORT JOB`。

# Alarms
alarms = 告警
alarm = 告警
alarms-about = 当前的问题，无人处理的在前。原因消除后告警自动结束；控制台不发送通知，由 Prometheus 的规则发送。
alarms-none = 没有告警。
alarms-caption = { $count } 条告警
alarm-registry-lost = 注册中心失联
alarm-registry-lost-about = 控制台无法连接注册中心。作业可能在运行，也可能没有；显示的是失联时的状态。
alarm-runs-long = 运行时间过长
alarm-runs-long-about = 运行时间超过此前 95% 的运行的三倍，且超过一分钟。
alarm-usual = 95% 的运行不超过 { $took }。
alarm-acknowledge = 确认
alarm-acknowledged = 已确认

# Help
help = 帮助
help-words = 术语
help-registry-center = 注册中心
help-registry-center-is = ZooKeeper，或单个程序内嵌的注册中心。作业的各实例通过它协商由谁运行什么。控制台只读写注册中心，自身不运行作业。
help-job-is = 有名称和调度的代码。多台主机上的程序拥有同一作业，并分担其分片项。
help-fire-is = 调度要求作业运行的时刻，或一次手动触发。每次触发运行全部分片项。
help-item-is = 作业的一部分。作业按配置分为若干分片项，每个分片项只有一个所属实例。
help-instance-is = 在线的、拥有该作业的程序，以主机地址和进程号命名。
help-server-is = 有实例的主机的地址。禁用服务器后，其实例从下一次触发起不再运行。
help-leader-is = 为各实例分配分片项的实例。它结束后由其他实例接替。
help-failover-is = 实例宕机时已开始而未结束的分片项，在启用失效转移时由其他实例立即重新运行。
help-misfire-is = 上一次运行尚未结束时到来的触发。启用错过执行时，会在该次运行之后立即补跑。
help-jobs = 作业的状态
help-job-ok = 将在下一次触发时运行。
help-job-disabled = 操作员在所有服务器上禁用了它：不会触发。可在其页面上启用。
help-job-sharding-flag = 分片待调整：服务器或分片项发生了变化，将在下一次触发开始前重新分片，无需处理；从未运行过的作业没有分片项，也显示此状态。
help-items = 分片项的状态
help-item-running = 正在运行。
help-item-pending = 等待下一次触发。
help-item-disabled = 被操作员禁用：不参与触发。
help-item-sharding-flag = 尚无所属实例。
help-ends = 运行和触发的结果
help-ends-about = 触发的结果取其分片项中最差的一个。没有结束记录：进程被终止，或结束尚未写入。
help-roles = 角色
help-roles-about = 角色仅对授予的注册中心和作业有效，并包含其前面的角色。只读控制台上所有人都是 viewer。
help-viewer = 查看作业、服务器、历史、告警和配置，密钥已屏蔽
help-operator = 立即运行作业；启用和禁用作业、分片项和服务器；确认告警
help-editor = 修改配置
help-admin = 终止实例；删除作业和服务器；查看节点、导出和登录记录
help-programs = 供程序使用
help-programs-about = 每个页面的末尾说明程序如何做同样的事。
help-openapi = REST API 的内容，OpenAPI 3.1
help-metrics = 全部作业的状态，供 Prometheus 抓取
help-health = 控制台是否运行，以及能否连接其注册中心

# History of a configuration
history-of-configuration = 配置历史
history-of-configuration-about = 本控制台启动以来看到的版本，以及决策日志中的修改。两次查看之间的修改可能缺失：使用数据文件时，控制台会记录每一次修改。
history-of-configuration-kept = 最近 400 天的版本，包括其他程序写入的版本，以及决策日志中的修改。敏感值不保存。
history-version = 版本
history-outside = 在本控制台之外
history-first = 已知的第一个版本
history-same = 显示的内容没有变化
history-put-back = 恢复
history-put-back-about = 表单中是版本 { $version } 的配置。请查看预览，保存后即恢复。
history-stays = 以下设置含有未保存的敏感值，保持当前存储的值：{ $settings }

# 云作业
cloud = 云作业
cloud-none = 这里没有云作业调度器
cloud-none-detail = 此控制台不与云作业调度器在一起。请打开 `elasticjob cloud` 所在端口上的控制台。
cloud-figures = 数据统计
cloud-app = 应用
cloud-apps = 应用
cloud-jobs = 已注册作业
cloud-tasks = 运行与等待
cloud-apps-found = { $count } 个应用
cloud-apps-none = 尚未注册应用。请先注册应用，再注册它的作业。
cloud-jobs-none = 尚未注册作业，或您无权查看。作业属于应用：请先注册应用。
cloud-new-app = 注册应用
cloud-new-job = 注册作业
cloud-register = 注册
cloud-change = 修改
cloud-change-of = 修改 { $name }
cloud-required = 必填
cloud-package = 程序包
cloud-command = 启动命令
cloud-type = 类型
cloud-registration = 注册信息；名称表示机密的值已掩码
cloud-app-about = 程序包、启动命令，以及进程除分片项之外所需的资源。注册信息决定运行哪条命令。
cloud-job-about = 作业的每个分片项各自作为一个进程运行。CPU 与内存是单个分片项的用量。
cloud-enabled = 已启用
cloud-disabled = 已禁用
cloud-app-disabled = 已禁用：它的作业都不运行
cloud-job-disabled = 已禁用：不会触发
cloud-job-app-disabled = 所属应用已禁用：不会触发
cloud-app-without-jobs = 没有您可以查看的作业。
cloud-launches = 启动记录
cloud-launch = 启动
cloud-launches-none = 承载器没有它的启动记录。
cloud-launches-about = 承载器已知 { $count } 次启动；链接指向日志
cloud-place = 位置
cloud-log = 进程日志
cloud-process = 进程
cloud-log-process = 进程 { $process }
cloud-log-last = 分片项 { $item }，最近一次运行
cloud-log-of = 分片项 { $item }，启动 { $launch }
cloud-log-cut = 日志更长：此处为其最后 { $bytes } 字节。
cloud-log-empty = 没有输出。
cloud-job-pages = 作为普通作业查看：
cloud-remove-app = 删除应用
cloud-remove-app-warning = { $count ->
    [0] 将删除其注册信息。
   *[other] 将连同 { $count } 个作业一起删除。正在运行的会被停止。
}
cloud-remove-job = 删除注册信息
cloud-remove-job-warning = 作业不再触发，正在运行的会被停止。历史记录保留。
cloud-done-registered = 已注册 { $name }。
cloud-done-changed = 已修改 { $name }。
cloud-done-removed = 已删除 { $name }。
cloud-done-reconciled = 已重新询问承载器。
cloud-transient = TRANSIENT 作业
cloud-daemon = DAEMON 作业
cloud-running = 运行中的分片项
cloud-running-none = 没有正在运行的。
cloud-running-about = { $count } 个分片项正在运行；时间所在时区 { $zone }
cloud-ready = 等待中的作业
cloud-ready-none = 没有等待的。
cloud-ready-about = { $count } 个作业有等待的分片项，及其原因
cloud-failover = 丢失的分片项
cloud-failover-none = 没有丢失的分片项。
cloud-failover-about = { $count } 个分片项的运行位置或调度器已消失，尚未重新运行
cloud-attempt = 第几次尝试
cloud-stopping = 正在停止
cloud-lost-before = 上一次的运行位置已丢失：{ $why }
cloud-kind = 起因
cloud-before = 原任务
cloud-misfired = 错过的触发将被补执行。
cloud-reconcile = 重新询问承载器
cloud-reconcile-about = 调度器重新读取它所等待的一切。正常运行时不需要。
cloud-results = 运行结果
cloud-results-none = 这段时间没有结束的运行。
cloud-results-about = 按结束时间统计的分片项运行，失败的在上方，时区 { $zone }；取最近 100,000 条
cloud-last-hour = 最近一小时
cloud-last-day = 最近 24 小时
cloud-last-week = 最近 7 天
cloud-succeeded = 成功 { $count }
cloud-failed = 失败 { $count }
cloud-well = 成功
cloud-badly = 失败
cloud-ran = 运行情况
cloud-ran-about = 每个整点正在运行的分片项，时区 { $zone }
cloud-at-hour = 整点
cloud-as-table = 以表格显示
cloud-registered = 每日已注册作业
cloud-registered-about = 现有作业中，截至每日结束（UTC）已注册的数量
cloud-day = 日期
cloud-field-app-name = 名称，不能修改。
cloud-field-app-url = 程序包：file:、https: 或 oci:。以 #sha256=HEX 结尾时会校验。
cloud-field-bootstrap = 在程序包目录中启动它的命令。
cloud-field-app-cpu = 进程除分片项之外所需的 CPU。默认 1。
cloud-field-app-memory = 进程除分片项之外所需的内存（MB）。默认 128。
cloud-field-app-cache = 是否保留已下载的程序包供以后运行使用。
cloud-field-sampling = DAEMON 作业每多少次运行记录一次轨迹。0 和 1 表示每次。
cloud-field-image = 运行程序包的镜像，用于支持镜像的承载器。
cloud-field-env = 环境变量，每行一个 NAME=value。
cloud-field-slurm = 承载器 SLURM 的要求，每行一个 NAME=value：partition、account、qos、constraint、timeLimitMinutes。
cloud-field-job-name = 名称，不能修改。
cloud-field-job-app = 其进程运行的应用。
cloud-field-type = TRANSIENT：每个分片项的每次运行各用一个进程。DAEMON：常驻进程，自行调度。
cloud-field-cron = 触发时间。既没有 cron 也没有 dependsOn 的 TRANSIENT 作业在手动触发时运行。
cloud-field-zone = 表达式的时区。默认为调度器的时区。
cloud-field-depends-on = 代替 cron：在哪些作业之后运行，以逗号分隔，例如 extract, load when ended items same。
cloud-field-items = 一次触发分成多少个分片项，最多 1,600。
cloud-field-item-parameters = 各分片项的参数：0=Beijing,1=Shanghai。
cloud-field-parameter = 整个作业的参数。
cloud-field-job-cpu = 单个分片项的 CPU，至少 0.001。
cloud-field-job-memory = 单个分片项的内存（MB），至少 1。
cloud-field-failover = 分片项所在位置丢失时是否重新运行。
cloud-field-misfire = 落在运行期间的触发是否补执行。
cloud-field-disabled = 注册时是否处于禁用状态。
cloud-field-error-handler = 分片项失败时如何处理。默认 LOG。
cloud-field-description = 作业用途。
cloud-field-grace = 进程被强制结束前可用的秒数。默认 10。
cloud-field-instances = DAEMON 作业的进程数。默认与分片项数相同。
cloud-field-per-process = 承载器支持时，多少个分片项共用一个进程。默认 1。
cloud-field-queue = 启动在承载器的哪个队列或分区中等待。
cloud-field-props = 程序及错误处理器的属性，每行一个 KEY=value。

# API 参考
help-api = API 参考
help-api-about = REST API 的全部路由，以及各自所需的角色。说明文字来自供程序使用的文档（英文）：
help-api-role = 角色
help-api-body = 请求体
help-api-bodies = 数据结构
help-api-parameters = 参数
help-api-fields = 字段
help-api-name = 名称
help-api-kind = 类型
help-api-required = 必填

# API 的问题
help-problems = API 的问题代码
help-problems-about = 每个错误答复都带有以下代码之一。代码不会改变，程序可以依赖它们。
help-problem-code = 代码
help-problem-is = 含义
help-problem-remedy = 处理方法
problem-not-logged-in = 请求既没有会话也没有令牌。
problem-not-logged-in-remedy = 请登录，或在请求头 Authorization: Bearer 中发送令牌。
problem-unknown-token = 控制台不认识此令牌：已被删除，或从未创建。
problem-unknown-token-remedy = 请向管理员申请新的令牌。
problem-expired-token = 令牌在详情所示时间之后失效。
problem-expired-token-remedy = 请申请新的令牌；令牌最长有效期为一年。
problem-token-without-owner = 创建此令牌的用户已被删除、禁用，或权限已减少。
problem-token-without-owner-remedy = 请使用其他用户的令牌，或恢复其所有者的角色。
problem-forbidden = 调用者已知，但没有该注册中心或该作业所需的角色。只读控制台上所有人最多是 viewer。
problem-forbidden-remedy = 请向管理员申请详情中所示的角色。
problem-wrong-host = 调用者既没有会话也没有令牌，并且使用了不属于控制台的主机名。其他主机的网页可以让浏览器这样做。
problem-wrong-host-remedy = 请登录，或在控制台所在主机上使用 http://127.0.0.1，或将该主机名加入 elasticjob.console.allowed-hosts。如有代理，请让它原样转发浏览器的 Host 请求头。
problem-foreign-origin = 其他来源的页面让浏览器发出了可能更改内容的请求；或者控制台前面的代理改写了浏览器的 Host 请求头。
problem-foreign-origin-remedy = 请使用控制台的页面，或浏览器以外的程序。请让代理原样转发浏览器的 Host 请求头，包括端口。
problem-bad-request = 路径、参数或请求体的一部分无法理解。
problem-bad-request-remedy = 详情说明了是哪一部分；请对照 openapi.json。
problem-wrong-method = API 有此地址，但不支持此方法。
problem-wrong-method-remedy = 请使用 openapi.json 中的方法。
problem-too-large = 请求体超过控制台读取的上限：256 KiB。
problem-too-large-remedy = 请减少内容，例如一次操作更少的作业。
problem-no-such-route = API 没有此地址。
problem-no-such-route-remedy = 请查看 openapi.json；若在代理之后，请核对 elasticjob.console.base-path 与代理的路径。
problem-no-such-registry = 控制台没有此名称的注册中心，或调用者无权查看。
problem-no-such-registry-remedy = GET /api/v1/registries 列出可见的注册中心。
problem-no-such-job = 命名空间中没有此名称的作业。
problem-no-such-job-remedy = 请核对名称与命名空间；包含该作业的程序启动后才会出现。
problem-no-such-item = 作业没有此编号的分片项。
problem-no-such-item-remedy = 分片项编号从 0 到 shardingTotalCount - 1。
problem-no-such-server = 调用者可见的作业都不认识此服务器。
problem-no-such-server-remedy = GET .../servers 列出现有的服务器。
problem-no-such-run = 轨迹中没有该作业的这次运行。
problem-no-such-run-remedy = 它可能已随旧轨迹被清理，或该编号属于其他作业。
problem-no-such-fire = 该作业没有可以重新运行的这次触发：调度中没有该时间，或时间未到，或注册中心已不知道它。
problem-no-such-fire-remedy = 请选用详情中给出的触发，或 GET .../fires 列出的触发。没有调度、也不在其他作业之后运行的作业请直接触发。
problem-no-such-version = 控制台不知道该配置版本。
problem-no-such-version-remedy = GET .../configuration/versions 列出已知的版本。
problem-no-such-alarm = 当前没有此编号的告警。
problem-no-such-alarm-remedy = 它已结束，或调用者无权查看其作业。GET .../alarms 列出当前告警。
problem-no-such-node = 注册中心的命名空间中没有此节点。
problem-no-such-node-remedy = 它可能已被删除，运行和实例的节点会随时消失。
problem-no-configuration = 作业有节点，但没有配置。
problem-no-configuration-remedy = 请启动包含该作业的程序：它会写入配置。
problem-nothing-matched = 没有与该操作匹配的对象。
problem-nothing-matched-remedy = 请重新查看作业或服务器：它可能已变化。
problem-no-enabled-instance = 没有实例可以运行该作业：没有在线实例，或全部被禁用。
problem-no-enabled-instance-remedy = 请启动包含该作业的程序，或启用一台服务器。
problem-nothing-runs = 没有可以取消的正在运行的分片项。
problem-nothing-runs-remedy = 请重新查看作业：运行已结束，或尚未开始。
problem-not-rerun = 现在不能重新运行这次触发：有手动触发在等待，或未监控执行，或配置不可用。
problem-not-rerun-remedy = 详情说明了原因。请在触发被领取后重试，或直接触发该作业。
problem-instances-online = 只能删除离线的对象，而仍有实例在线。
problem-instances-online-remedy = 请先关闭它们；作业可以强制删除。
problem-unreadable-configuration = 已存储的配置无法使用，因此不能部分修改。
problem-unreadable-configuration-remedy = 请使用 PUT 发送完整配置。
problem-invalid-configuration = 配置有错误，未作任何修改。
problem-invalid-configuration-remedy = 每个问题都带有其设置的 JSON 指针；全部修正后重新发送。?dryRun=true 只检查不修改。
problem-reason-required = 此控制台要求该操作附带原因（elasticjob.console.require-reason），但请求中没有。未执行任何操作。
problem-reason-required-remedy = 请按问题所示的位置发送 1 至 { $most } 个字符的 reason：作为请求体的成员，或作为查询参数。
problem-carried-job = 该作业由 Cloud 调度器承载。每次启动时，其注册信息都会覆盖注册中心中的配置，因此修改会丢失。未作任何修改。
problem-carried-job-remedy = 请修改注册信息：调用调度器（elasticjob cloud）的 PUT /api/job/update，或使用调度器控制台上该注册作业的页面。
problem-no-version = 修改需要说明所基于的版本。
problem-no-version-remedy = 请在 If-Match 中发送读取配置时得到的 ETag。
problem-changed-meanwhile = 读取之后，其他操作者或程序修改了它。未作任何修改。
problem-changed-meanwhile-remedy = 请重新读取，并使用新的 ETag 发送修改。
problem-wrong-schedule = cron 表达式或时区无法使用。
problem-wrong-schedule-remedy = 详情说明了原因；offset 与 end 指出所在部分。
problem-contended = 其他写入者反复修改相同的节点。部分可能已完成：见 done。
problem-contended-remedy = 请一秒后重新发送；已完成的部分不会再变化。
problem-key-in-use = 带有此 Idempotency-Key 的请求尚未得到答复。
problem-key-in-use-remedy = 请一秒后重新发送：答复与第一次相同。
problem-key-reused = 此 Idempotency-Key 之前用于不同的请求体。
problem-key-reused-remedy = 每个请求使用新的键，仅在重复发送时使用相同的键。
problem-too-many-streams = 控制台没有更多事件流的位置。
problem-too-many-streams-remedy = 请关闭无人查看的页面，或稍后再试。
problem-registry-unreachable = 注册中心没有答复。若 outcome 为 unknown，操作可能已经执行。
problem-registry-unreachable-remedy = 请检查 /readyz 与网络。结果未知时，请先读取状态再重新发送。
problem-registry-refused = 注册中心返回了错误。
problem-registry-refused-remedy = 详情中有该错误；通常是 digest 缺少权限。
problem-not-traced = 控制台没有读取轨迹数据库，因此不了解过去。
problem-not-traced-remedy = 请将 elasticjob.tracing 设置为作业写入的数据库。
problem-traces-unreadable = 轨迹数据库没有答复，或拒绝了请求。
problem-traces-unreadable-remedy = 详情中有其错误。已记录的内容不会因此丢失。
problem-traces-busy = 其他读取占用了轨迹数据库的所有连接，等待期间没有连接空出来。
problem-traces-busy-remedy = 请在一秒后重新发送。如果反复出现，请缩短时间范围，并检查数据库。
problem-data-unusable = 控制台的数据文件当前无法读写。
problem-data-unusable-remedy = 控制台的日志中有原因；通常是磁盘已满。
problem-not-kept = 用户与令牌在数据文件中修改，而此控制台没有数据文件。
problem-not-kept-remedy = 请使用 --data FILE 启动，或设置 elasticjob.console.data。
problem-unknown-name = 没有此名称的用户、令牌或会话。
problem-unknown-name-remedy = 它可能已被删除，或名称有误。
problem-name-taken = 此名称的用户或令牌已存在。
problem-name-taken-remedy = 请选择其他名称，或修改已有的。
problem-of-settings = 此用户或令牌来自控制台的设置，页面不能修改设置。
problem-of-settings-remedy = 请修改 elasticjob.console-users 或 elasticjob.console.tokens，然后重启控制台。
problem-last-administrator = 没有此用户，就没有人能管理控制台。
problem-last-administrator-remedy = 请先授予另一用户对所有对象的 admin 角色。
problem-invalid-account = 用户或令牌的名称、密码、角色或有效天数无法使用。
problem-invalid-account-remedy = 详情说明了是哪一项，以及正确的写法。
problem-no-password = 调用者在此控制台的数据文件中没有密码。
problem-no-password-remedy = 企业账号的用户在其账号处修改密码；程序使用令牌。
problem-wrong-password = 所给的当前密码不正确。
problem-wrong-password-remedy = 请给出正确的密码；管理员可以不凭当前密码设置新密码。
problem-too-many-attempts = 多次给出了错误的密码。
problem-too-many-attempts-remedy = 请按详情所示的时间等待。

# 自己的密码
password = 您的密码
password-change = 修改密码
password-now = 当前密码
password-new = 新密码
password-again = 再次输入新密码
password-about = 密码为 12 到 128 个字符。修改后，您在其他浏览器中的会话会结束。
password-differ = 两次输入的新密码不同。未作修改。
password-done = 密码已修改。您的其他会话已结束。
password-of-settings = 您的密码在控制台的设置中：由管理员使用 `elasticjob console hash-password` 的哈希修改。
password-elsewhere = 您使用的不是此控制台的账号登录。请在该账号处修改密码。

alarms-in-memory = 此控制台结束后，谁在处理告警将被遗忘。数据文件可以保留它：

# 企业账号登录
login-company = 使用企业账号登录
login-company-away = 企业账号服务器当前无法使用。控制台的日志中有原因。
login-company-stale = 该登录超时、已被使用，或始于其他浏览器。请重试。
login-company-refused = 企业账号服务器未允许您登录，或其答复无效。控制台的日志中有原因。
login-company-no-role = 您的身份是 { $name }，但您所在的组在此控制台中没有任何角色。请联系管理员。
access-logged-in-elsewhere = 使用企业账号登录
access-elsewhere-refused = 企业账号登录被拒绝

# 依赖图
graph = 依赖图
graph-none = 没有作业在其他作业之后运行。
graph-hint = 配置中用 depends-on 代替 cron 的作业在其他作业之后运行。没有文字的箭头表示：所有分片项成功之后。
graph-alone = 该作业不在其他作业之后运行，也没有作业在它之后运行。
graph-fire = 触发时间：
graph-no-fires = 尚未触发
graph-fires = 其他触发
graph-latest = 最近一次触发
graph-caption = 共 { $count } 个作业，从左到右依次运行
graph-about = { $count } 个作业及其先后关系；下表内容相同
graph-table = 各作业在这次触发中的状态；时间的时区：{ $zone }
graph-too-many = 这 { $count } 个作业太多，无法画图。
graph-more = 共 { $count } 组作业，显示前 { $shown } 组。每个作业的页面有其所在的组。
graph-runs = 运行方式
graph-after = { $job }（{ $when }）
graph-when-failed = 失败时
graph-when-ended = 结束后
graph-items-same = 逐个分片项
graph-when-items-same = { $when }，逐个分片项
graph-after-items = { $job }（{ $items }）
graph-due = 待运行
graph-not-begun = 未开始
graph-past = 已结束，结果未知
graph-no-fire = 此时无触发
graph-not-there = 尚不存在
graph-not-visible = 您无权查看
graph-cycle = 这些作业互相等待，永远不会运行：{ $jobs }。请从 depends-on 中去掉其中一个。
graph-why = 作业 { $job } { $end }，而本作业只在其{ $when ->
    [failed] 失败时
    [ended] 结束后
   *[succeeded] 成功后
}运行。
graph-why-items = 分片项 { $items } 不运行：作业 { $job } 的同号分片项{ $end }，而本分片项只在其{ $when ->
    [failed] 失败时
    [ended] 结束后
   *[succeeded] 成功后
}运行。
graph-end-succeeded = 已成功
graph-end-failed = 已失败
graph-end-skipped = 已跳过
graph-end-unknown = 已结束，但结果未知
graph-end-no-fire = 在该时间没有触发
graph-rerun = 重新运行

# Settings of a job; English comes from the table of settings
setting-of-cron = 何时触发：6 或 7 个字段的 Quartz cron 表达式，第一个字段是秒。没有表达式的作业是一次性作业，触发时才运行。
setting-of-cron-unset = 一次性作业
setting-of-time-zone = 表达式所用的时区：IANA 数据库中的名称，或如 `GMT+8:00` 的偏移量。
setting-of-time-zone-unset = 主机的时区
setting-of-depends-on = 不按调度、而在这些作业之后运行：`JOB`、`JOB when failed` 或 `JOB when ended`。所有这些作业在同一计划时间的触发都以所写的方式结束后，本作业才触发；写 `JOB items same` 或 `JOB when ended items same` 时，每个分片项在同号分片项结束后即开始。本作业和这些作业都需要启用 monitor-execution。
setting-of-depends-on-unset = 不在其他作业之后运行
setting-of-sharding-total-count = 一次触发分为多少个分片项：最多 100,000；`depends-on` 中有 `items same` 的作业最多 10,000。
setting-of-sharding-total-count-unset = 必填
setting-of-sharding-item-parameters = 各分片项的参数，分片项从 0 开始编号。
setting-of-sharding-item-parameters-unset = 分片项没有参数
setting-of-job-parameter = 整个作业的参数。
setting-of-job-parameter-unset = 空
setting-of-monitor-execution = 是否在注册中心记录分片项的开始和结束：这样同一分片项不会同时运行两次，并有 fencing token。每次触发多两个请求；对于每隔片刻就触发的作业，`false` 可能更合适。
setting-of-failover = 实例退出或崩溃时已开始而未完成的分片项，是否立即由另一个实例重新开始。部分工作可能已经完成。需要启用 monitor-execution。
setting-of-misfire = 上一次触发仍在运行时到来的触发，是否在其结束后立即补上；有多个时只补最近一个。
setting-of-max-late-begin-seconds = 没有实例按时开始的触发最多可以晚多久开始，至少为 1；负数：直到下一次触发，misfire 关闭时为 10 秒。需要启用 monitor-execution。
setting-of-max-time-diff-seconds = 主机时钟与注册中心时钟最多可以相差多少；负数：不检查。相差更多的主机上作业不启动，触发会被跳过。
setting-of-reconcile-interval-minutes = 主节点每隔多久重新列出作业的所有节点，并让实例修复错误；小于 1：从不。
setting-of-job-sharding-strategy-type = 分片项如何分给各实例：`AVG_ALLOCATION`、`ODEVITY`、`ROUND_ROBIN`、`SINGLE_SHARDING_BALANCE`、`WHOLE`，或程序自带策略的类型名（`register_sharding_strategy!`）。
setting-of-job-executor-thread-pool-size-provider-type = 一个进程中同时运行该作业的多少个分片项：`CPU` 为处理器数的两倍，`SINGLE_THREAD` 为一个，或程序自带线程池的类型名（`register_pool_size_provider!`）。需要等待的分片项算作已开始；失效转移的分片项优先。
setting-of-job-executor-thread-pool-size-provider-type-unset = 不限：异步作业的所有分片项同时开始；会阻塞线程的普通函数使用 `CPU`
setting-of-job-error-handler-type = 分片项失败时的处理：`LOG`、`THROW`、`IGNORE`、`EMAIL`、`WECHAT`、`DINGTALK`，或程序自带处理器的类型名（`register_error_handler!`）。
setting-of-job-listener-types = 在一次触发的分片项前后调用的监听器的类型名，以逗号分隔。
setting-of-job-listener-types-unset = 没有监听器
setting-of-description = 给人看的说明。
setting-of-description-unset = 空
setting-of-props = 作业类型、错误处理器和监听器的属性，每行一个 KEY=VALUE。
setting-of-props-unset = 没有属性
setting-of-overwrite = 程序每次启动时，其配置是否覆盖注册中心中的配置；否则以注册中心中的配置为准。
setting-of-label = 保存在注册中心供他人使用，本实现不使用。
setting-of-label-unset = 没有标签
setting-of-static-sharding = 实例上线或下线时，分片项是否保持其所属实例，包括已下线的实例。仅在首次触发以及分片总数或策略改变时分配。

# States; English shows the words of the API
status-of-ok = 正常
status-of-crashed = 无在线实例
status-of-disabled = 已禁用
status-of-enabled = 已启用
status-of-sharding-flag = 分片待调整
status-of-configuration-refused = 配置被拒绝
status-of-failing = 执行失败
status-of-running = 运行中
status-of-pending = 等待运行
status-of-succeeded = 成功
status-of-failed = 失败
status-of-cancelled = 已取消
status-of-not-run = 未运行
status-of-connected = 已连接
status-of-connecting = 连接中
status-of-suspended = 已断开
status-of-closed = 已关闭

# Messages; English comes from the message itself
message-cron-invalid = cron 表达式“{ $expression }”无效：{ $cause }
message-cron-in-field = { $field ->
    [second] 秒
    [minute] 分
    [hour] 时
    [day-of-month] 日
    [month] 月
    [day-of-week] 星期
    [year] 年
   *[other] { $field }
}：{ $cause }
message-cron-blank = 表达式为空，需要以下字段：{ $form }
message-cron-at-form = Quartz 没有“@”简写，请完整写出，例如“{ $example }”
message-cron-five-fields = 只有 5 个字段，需要 6 或 7 个：{ $form }。前面是否缺少秒？
message-cron-one-field = 只有 1 个字段，需要 6 或 7 个：{ $form }
message-cron-few-fields = 只有 { $count } 个字段，需要 6 或 7 个：{ $form }
message-cron-no-day = 日和星期都是“?”，但其中一个必须指定日期，例如“*”
message-cron-two-days = 日和星期不能同时指定，其中一个必须是“?”
message-cron-question-mark = “?”只能用于日和星期，表示所有值请写“*”
message-cron-question-mark-alone = “?”必须是整个字段
message-cron-empty-list = 列表中没有值
message-cron-last-in-list = “L”不能在列表中与其他日期组合
message-cron-two-nth = 一个列表中只能有一个“#”
message-cron-unexpected = 不应出现“{ $found }”
message-cron-unexpected-after = “{ $before }”之后不应出现“{ $found }”
message-cron-unexpected-after-last = “L”之后不应出现“{ $found }”，可以写“L”、“L-3”、“LW”和“L-3W”
message-cron-unexpected-after-range = 范围之后不应出现“{ $found }”
message-cron-unexpected-after-number = 数字之后不应出现“{ $found }”
message-cron-years-reversed = 年份范围的结束早于开始，是否应为“{ $from }-{ $to }”？
message-cron-nearest-weekday = “W”（最近的工作日）只能用于日
message-cron-last-of-week = 数字之后的“L”只能用于星期；在日字段中“L”写在前面，如“L-3”
message-cron-nth = “#”（当月第几个）只能用于星期
message-cron-last-alone = 单独的“L”是周六；当月最后一个周五写作“6L”或“FRIL”
message-cron-days-before-last = 最后一天之前 { $days } 天过多，最多 30 天
message-cron-nth-number = “#”之后必须是 1 到 5 的数字，如“FRI#3”
message-cron-not-a-number = “{ $word }”不是数字，允许的值为 { $allowed }
message-cron-range-of-names = 以名称开始的范围必须以名称结束，允许的值为 { $allowed }
message-cron-not-a-name = “{ $word }”不是该字段的名称，允许的值为 { $allowed }
message-cron-end-missing = “-”之后必须是数字，允许的值为 { $allowed }
message-cron-out-of-range = { $value } 超出范围，允许的值为 { $allowed }
message-cron-number-missing = “{ $before }”之后必须是数字
message-cron-step-too-large = 步长 { $step } 过大，最大为 { $most }
message-cron-allowed = { $from } 至 { $to }
message-cron-allowed-month = 1 至 12 或 JAN 至 DEC
message-cron-allowed-day = 1 至 7（1 为周日）或 SUN 至 SAT
message-zone-unknown = 未知的时区“{ $name }”：请写 IANA 名称，如“Asia/Shanghai”，或偏移量，如“GMT+08:00”
message-zone-similar = 未知的时区“{ $name }”：是否应为“{ $similar }”？
message-zone-offset = 时区“{ $name }”不是有效的偏移量：小时为 0 到 23，分钟如“GMT+8”或“GMT+08:30”所示
message-zone-local = 无法使用本机时区，请在作业配置或环境变量 TZ 中设置时区：{ $reason }
message-name-invalid = 名称“{ $name }”无效：{ $reason }
message-name-blank = 名称为空
message-name-dots = 注册中心的路径中不允许使用“.”和“..”
message-name-slash = “/”是注册中心路径中节点的分隔符
message-name-character = 注册中心的路径中不允许使用 { $character }，也不允许使用控制字符、私有区字符以及 U+FFEF 之后的字符
message-name-delimiter = “@-@”是任务编号各部分的分隔符
message-parameters-blank = 有一部分为空：请写“分片项=参数”，以逗号分隔，如 0=Beijing,1=Shanghai
message-parameters-no-equals = “{ $part }”中没有“=”：请写“分片项=参数”，以逗号分隔，如 0=Beijing,1=Shanghai
message-parameters-number = “{ $part }”中的“{ $item }”不是分片项的编号：编号是从 0 开始的整数
message-parameters-no-parameter = 分片项 { $item } 的参数为空：请去掉该分片项
message-parameters-many-equals = “{ $part }”中有多个“=”：参数中不能有“=”和“,”
message-parameters-repeated = 分片项 { $item } 出现了两次
message-parameters-one-item = 没有分片项 { $item }：唯一的分片项是 0
message-parameters-out-of-range = 没有分片项 { $item }：分片项为 0 至 { $last }
message-count-missing = 缺少该项：请设置一次触发分为多少个分片项
message-count-zero = 不能为 0：一次触发至少有 1 个分片项
message-count-too-large = { $total } 个分片项超出了注册中心的处理能力，最多 { $most } 个：请减少分片项，让每个分片项处理更多内容
message-configuration-too-long = 配置在注册中心中有 { $length } 字节，最多读取 { $most } 字节：请缩短
message-cron-never-fires = “{ $cron }”永远不会触发
message-cron-taken-back = 不能取消调度：否则作业不再触发，按调度启动它的程序也无法启动；如需暂停，请禁用其服务器
message-depends-or-cron = 作业只能有 `cron` 或 `depends-on` 之一：要么在那些作业之后运行，要么按自己的调度运行
message-depends-too-many-items = `items same` 最多支持 { $most } 个分片项，而该作业有 { $total } 个
message-depends-not-monitored = 需要启用 monitor-execution：只有运行记录能说明已为哪些触发运行过
message-depends-comma = “{ $text }”：名称中有逗号的作业不能在此使用
message-depends-unknown-word = “{ $text }”：没有“{ $word }”；可用：{ $known }
message-depends-on-itself = 作业依赖于自身：{ $job } -> { $job }
message-depends-twice = 作业“{ $job }”出现了两次：请只写一次，带一个 `when`
message-depends-taken-back = 不能取消依赖：否则作业不再触发；如需暂停，请禁用其服务器
message-depends-cycle = 这些作业会永远互相等待：{ $jobs }；请去掉其中一个
message-depends-unequal = `items same` 要求分片项数与作业“{ $job }”相同：它有 { $total } 个，本作业有 { $own } 个；请先修改“{ $job }”的 sharding-total-count
message-failover-not-monitored = 需要启用 monitor-execution：只有运行中分片项的标记能说明崩溃留下了什么
message-listener-twice = “{ $name }”出现了两次：每个名称的监听器只调用一次
message-balance-not-monitored = { $strategy } 需要启用 monitor-execution：只有运行记录能说明轮到哪个实例
message-balance-static = { $strategy } 与 static-sharding 不能同时使用：固定的分片项不能随每次触发移动
message-late-begin-zero = 0 没有留出开始的时间：请写从 1 起的秒数，-1 表示不限
message-property-of-setting = 这是注册中心保存 `{ $setting }` 的方式：请设置该配置项
message-property-secret = 从名称看它是敏感信息，不会写入注册中心；请在程序的配置中设置：application.yaml 或环境变量
message-property-permission = 在注册中心中不起作用：只有程序能够允许；请在程序的配置中设置：application.yaml 或环境变量
message-owner-handler = 该错误处理器
message-owner-dataflow = 数据流作业
message-owner-type = 类型为 { $name } 的作业
message-property-missing = 缺少该项：{ $owner } 需要它，例如 { $example }
message-property-milliseconds = “{ $text }”：应为毫秒数，至少为 1
message-property-flag = “{ $text }”：应为 true 或 false
message-property-port = “{ $text }”：应为端口号，1 至 65535
message-property-addresses = “{ $text }”：应为以逗号分隔的邮件地址：“{ $error }”
message-property-robot = “***”：应为机器人的地址：“{ $error }”
message-property-body = 不会随 { $method } 发送：请去掉，或使用 POST、PUT、PATCH 或 DELETE
message-property-content-type = “{ $text }”：应为内容类型，如 application/json
message-property-uri = “***”：应为地址，http://host/path：“{ $error }”
message-property-method = “{ $text }”：应为大写的方法，如 GET 或 POST
message-property-command = “***”：“{ $error }”
message-type-unknown = 此程序中没有“{ $name }”（{ $kind }）；现有：{ $known }
message-type-not-built-in = 此程序中没有“{ $name }”（{ $kind }），因为构建时没有启用 elasticjob 或 elasticjob-starter 的 feature `{ $feature }`；现有：{ $known }
message-no-such-job = 命名空间中没有作业“{ $job }”
message-no-such-job-near = 命名空间中没有作业“{ $job }”；是否应为“{ $near }”？
message-no-jobs = 命名空间中没有作业“{ $job }”，也没有任何作业
message-no-such-job-of-many = 命名空间中没有作业“{ $job }”；共有 { $count } 个作业，其中有 { $names }
message-no-such-job-known = 命名空间中没有作业“{ $job }”；现有：{ $names }
message-no-configuration = 作业“{ $job }”在注册中心中没有配置：实例启动时会写入
message-no-match-of-job = 未作任何操作：作业“{ $job }”没有{ $what ->
    [server] 服务器
   *[other] 相符的服务器或在线实例
}
message-no-match-at = 未作任何操作：没有作业在“{ $server }”上有{ $what ->
    [server] 服务器
   *[other] 相符的服务器或在线实例
}
message-no-match-of-job-at = 未作任何操作：作业“{ $job }”在“{ $server }”上没有{ $what ->
    [server] 服务器
   *[other] 相符的服务器或在线实例
}
message-no-items-yet = 作业“{ $job }”没有分片项 { $item }：还没有任何分片项，首次分配时创建
message-no-such-item-of-one = 作业“{ $job }”没有分片项 { $item }：只有分片项 0
message-no-such-item = 作业“{ $job }”没有分片项 { $item }：分片项为 0 至 { $last }
message-not-triggered-offline = 未触发：作业“{ $job }”没有在线实例；请启动一个
message-not-triggered-disabled = 未触发：作业“{ $job }”所有实例的服务器都已禁用；请启用一台
message-not-triggered-carried = 未触发：由 Cloud 调度器承载的作业“{ $job }”的注册或其应用已禁用；请在调度器上启用：POST /api/job/{ $job }/enable
message-not-triggered-server-offline = 未触发：{ $target }没有在线实例；请启动一个
message-not-triggered-server-disabled = 未触发：{ $target }已禁用；请启用
message-target-server = 服务器“{ $server }”（所有作业）
message-target-server-of-job = 作业“{ $job }”的服务器“{ $server }”
message-runs-of-job = 作业“{ $job }”
message-runs-of-item = 作业“{ $job }”的分片项 { $item }
message-not-cancelled-idle = 未取消任何运行：{ $what }当前没有运行
message-not-cancelled-unmonitored = 未取消任何运行：作业“{ $job }”未启用 monitor-execution，因此注册中心不知道正在运行什么；请改为终止其实例
message-not-cancelled-java = 未取消任何运行：{ $what }由 Java 实例运行，它不支持取消
message-not-cancelled-java-on = 未取消任何运行：{ $what }由 Java 实例 { $instance } 运行，它不支持取消
message-not-rerun-no-fires-before = 未重新运行：作业“{ $job }”在 { $at } 没有触发，此前也没有
message-not-rerun-no-such-fire = 未重新运行：作业“{ $job }”在 { $at } 没有触发；最近的触发：{ $nearest }
message-not-rerun-no-fire-known = 未重新运行：作业“{ $job }”在其他作业之后运行，注册中心还不知道它的任何触发，因此也不知道 { $at }
message-not-rerun-unknown-fire = 未重新运行：作业“{ $job }”在其他作业之后运行，注册中心不知道 { $at } 的触发；已知的触发：{ $known }
message-not-rerun-not-allowed = 未重新运行：有作业在“{ $job }”之后随之运行，而该用户无权重新运行它
message-not-rerun-not-yet = 未重新运行：作业“{ $job }”在 { $at } 的触发尚未到来
message-not-rerun-no-fires = 未重新运行：作业“{ $job }”没有触发：既没有调度，也不在其他作业之后运行；请直接触发
message-not-rerun-unmonitored = 未重新运行：作业“{ $job }”未启用 monitor-execution，因此注册中心没有其触发的记录；请直接触发
message-not-rerun-trigger-waits = 未重新运行：作业“{ $job }”的手动触发正在等待 { $instance }，它一次只能接受一个；请在其开始后重试
message-not-rerun-follower-behind = 未重新运行：在“{ $job }”之后运行的作业“{ $after }”等待的重新运行已满；请在其开始一部分后重试
message-not-rerun-a-follower-behind = 未重新运行：有一个在“{ $job }”之后运行的作业，其等待的重新运行已满；请在其开始一部分后重试
message-not-rerun-unusable = 未重新运行：作业“{ $job }”在注册中心中的配置无法使用：{ $reason }
message-instance-online = 作业“{ $job }”未删除：有一个实例在线（{ $instances }）；请先终止，或强制删除
message-instances-online = 作业“{ $job }”未删除：有实例在线（{ $instances }）；请先终止，或强制删除
message-wrong-setting = { $setting }：{ $reason }
message-configuration-invalid = 作业“{ $job }”的配置未修改：{ $problems }
message-carried-job = 作业“{ $job }”的配置未修改：它由 Cloud 调度器承载，其注册信息会覆盖此修改。请改为修改注册信息：调用 `elasticjob cloud` 调度器的 `PUT /api/job/update`，或使用该注册作业的页面
message-problems = { $problems }
message-wire-syntax = 无法按 YAML 读取：“{ $reason }”
message-wire-type = { $key }：“{ $value }”不是{ $expected }
message-wire-kind = { $key }：此处应为{ $expected }
message-wire-block = { $key }：无法与文档的其他部分区分；请每行写一个键，其内容缩进在键的下方，不引用其他部分
message-a-flag = true 或 false
message-a-number = 此处允许的整数
message-a-number-of-seconds = 以秒计的整数（大于或等于 1，或 -1）
message-a-single-value = 单个值
message-a-list-of-types = 类型名称的列表
message-a-map-of-settings = 配置项的映射
message-a-map-of-properties = 属性的映射
message-configuration-unreadable = 作业“{ $job }”在注册中心中的配置无法使用：{ $reason }
message-changed-meanwhile = 作业“{ $job }”的配置未修改：其他操作员或程序在此期间修改了它；请重新读取
message-contended = 已完成 { $done } 个，其余未完成：其他客户端反复修改相同的节点；请重试
message-done-then = 已完成 { $done } 个，然后：{ $reason }
message-read-refused = 注册中心拒绝读取 { $path }：{ $reason }
message-no-answer = 注册中心没有答复：{ $why }
message-write-refused = 注册中心拒绝了事务中的第 { $index } 个操作（{ $path }）：{ $reason }
message-write-not-reached = 事务没有到达注册中心：{ $why }
message-write-unknown = 事务的答复丢失了：{ $why }
message-connection-lost = 连接已断开
message-session-ended = 会话已结束
message-no-session = 没有会话
message-center-closed = 注册中心的连接已关闭
message-made-for-ended-session = 它属于会话 { $session }，该会话已结束；现在的会话是 { $live }
message-request-given-up = 在收到应答之前放弃了该请求
message-earlier-request = 之前的一个请求：{ $why }
message-away-since = 自 { $since } 起无法连接，正在反复重新连接：{ $why }
message-center-silent = { $milliseconds } 毫秒内没有应答
message-refusal-no-node = 没有这个节点
message-refusal-node-exists = 节点已存在
message-refusal-version = 节点已是另一个版本
message-refusal-children = 节点有子节点
message-refusal-ephemeral = 临时节点不能有子节点
message-refusal-no-auth = 节点的访问列表不允许：请检查注册中心的 digest
message-refusal-acl = 服务器不接受新节点的访问列表：请检查注册中心的 digest
message-refusal-arguments = 路径或数据的大小不被接受
message-connect-invalid = 注册中心的配置有误：“{ $problems }”
message-connect-unreachable = 在 { $milliseconds } 毫秒（max-sleep-time-milliseconds 乘以 max-retries）内，server-lists（{ $servers }）中没有可用的 ZooKeeper 服务器：{ $detail }
message-connect-no-namespace = { $servers } 上的 ZooKeeper 没有命名空间 { $namespace }：请更正；命名空间由作业的第一个实例创建
message-connect-other-digest = { $servers } 上的 ZooKeeper 不允许此客户端使用命名空间 { $namespace }：digest 与创建命名空间时的不同
message-connect-no-digest = { $servers } 上的 ZooKeeper 不允许此客户端使用命名空间 { $namespace }：请把 digest 设为创建命名空间的“用户:密码”
message-connect-digest-refused = { $servers } 上的 ZooKeeper 拒绝了 digest，或不支持 digest 认证
message-connect-too-old = { $servers } 上的 ZooKeeper 低于 3.6，而递归监听从 3.6 开始支持：请升级
message-connect-failed = { $servers } 上的 ZooKeeper 不允许此客户端使用命名空间 { $namespace }：“{ $why }”
message-of-server = { $server }：{ $finding }
message-servers-silent = 没有应答；请启动 ZooKeeper，或更正 server-lists
message-server-not-found = 找不到该主机名（“{ $error }”）：请更正 server-lists
message-server-not-reached = “{ $error }”：请启动该服务器，或更正 server-lists
message-server-slow-tls = TLS 已协商成功，但没有及时建立会话：如果这是 ZooKeeper，请查看其日志；否则请更正 server-lists
message-server-slow = 这是 ZooKeeper，但没有及时建立会话：请查看其日志
message-server-without-quorum = 这个 ZooKeeper 没有法定多数：请启动集群中的其他服务器
message-server-with-tls = 这个端口使用 TLS：请设置 tls.enabled: true，如果其证书的 CA 不被系统信任，还要设置 tls.trust-store；或者改用该服务器的 clientPort
message-server-closes = 端口有程序监听，但它关闭了连接：如果这是 ZooKeeper 的 secureClientPort，请设置 tls.enabled: true；否则请更正 server-lists
message-tls-plain-port = 这个端口不使用 TLS：请在 server-lists 中改用该服务器的 secureClientPort，或设置 tls.enabled: false
message-tls-fails = TLS 失败：“{ $error }”
message-tls-other-name = 其证书不是签发给 { $host } 的（“{ $why }”）：请在 server-lists 中使用证书上的名称，或为服务器换上 { $host } 的证书
message-tls-expired = 其证书已于 { $at } 过期：请在服务器上更新证书
message-tls-not-yet = 其证书在 { $at } 之前无效：请校正本机的时钟，或签发证书的主机的时钟
message-tls-revoked = 其证书已被吊销：请为服务器换一个证书
message-tls-other-authority = 其证书不是由 tls.trust-store（{ $file }）中的 CA 签发的：如果这是您的服务器，请把签发它的 CA 证书加入该文件
message-tls-unknown-authority = 其证书不是由本系统信任的 CA 签发的：如果这是您的服务器，请在 tls.trust-store 中指定含有该 CA 的 PEM 文件
message-tls-certificate = 其证书无法使用：“{ $error }”
message-tls-versions = 它拒绝 TLS 1.2 和 1.3（{ $answer }）：请把服务器的 ssl.enabledProtocols 设为 TLSv1.2,TLSv1.3
message-tls-wants-certificate = 它拒绝了此客户端（{ $answer }），而客户端没有出示证书：请把 tls.client-certificate 和 tls.client-key 设为服务器信任的 CA 签发的证书和私钥
message-tls-refuses-certificate = 它拒绝了 tls.client-certificate（{ $file }）中的客户端证书（{ $answer }）：请改用服务器信任的 CA 签发的证书，或把其 CA 加入服务器的 ssl.trustStore.location
message-tls-closed-with-certificate = 它没有说明原因就结束了握手（“{ $error }”）：这个端口不使用 TLS，或者它不信任 tls.client-certificate 的 CA；其日志会说明是哪一种
message-tls-closed-without-certificate = 它没有说明原因就结束了握手（“{ $error }”）：这个端口不使用 TLS，或者它要求客户端证书（tls.client-certificate 和 tls.client-key）；其日志会说明是哪一种
message-server-is-another = 端口有程序监听，但它不像 ZooKeeper 那样应答：请更正 server-lists
message-not-logged-in = 请登录，或在请求头 `Authorization: Bearer` 中发送令牌
message-unknown-token = 控制台不认识此令牌
message-expired-token = 令牌有效期至 { $end }：请申请新的令牌
message-token-without-owner = 创建此令牌的用户已不再拥有其权限：请申请新的令牌
message-role-needed = 需要对该注册中心和该作业的 { $role } 角色
message-role-needed-read-only = 需要对该注册中心和该作业的 { $role } 角色；此控制台只读
message-foreign-origin = 此请求由其他来源的页面让浏览器发出：请使用此控制台的页面，或浏览器以外的程序；如有代理，请让它原样转发浏览器的 Host 请求头，包括端口
message-no-role = 该用户没有角色
message-no-role-read-only = 该用户没有角色；此控制台只读
message-forbidden-after = { $job } 会随之重新运行，每个这样的作业都需要 operator 角色
message-another-job = 另一个作业
message-no-such-registry = 控制台没有注册中心“{ $name }”
message-registry-away = 注册中心至今未能连接，正在反复重新连接：{ $why }
message-of-registry = 注册中心“{ $name }”：{ $why }
message-no-other-registry = 这里没有您可以查看的其他注册中心
message-same-registry = “{ $name }”就是当前的注册中心：请指定另一个
message-no-such-job-to-see = 所请求的作业中没有“{ $job }”，或您无权查看
message-item-unknown = 作业“{ $job }”没有分片项 { $item }
message-no-such-run = 追踪数据中没有该作业的运行“{ $id }”：已被删除，或从未存在
message-no-such-run-to-see = 追踪数据中没有运行“{ $id }”：已被删除，或从未存在，或您无权查看其作业
message-no-such-version = 控制台不知道作业“{ $job }”的配置版本 { $id }
message-no-such-server = 您可以查看的作业都不认识服务器“{ $server }”
message-no-such-alarm = 当前没有告警“{ $id }”：已结束，或您无权查看其作业
message-no-such-node = 注册中心的命名空间中没有节点 { $path }
message-not-traced = 控制台没有读取追踪数据库：请将 `elasticjob.tracing` 设置为作业写入的数据库
message-traces-not-reached = 无法读取 { $at }：自 { $since } 起不可达，正在重新连接：{ $why }
message-traces-away = 无法读取 { $at }：{ $why }
part-of-action-server = 服务器 { $name }
part-of-action-instance = 实例 { $name }
part-of-action-item = 分片项 { $name }
part-of-action-job = 作业 { $name }
part-of-action-fire = 触发 { $name }
message-storage-file = SQLite 文件 { $file }
message-storage-server = { $host }:{ $port } 上的 { $database } 数据库 { $name }
message-storage-of-application = 应用程序的 { $database } 连接池
message-storage-no-answer = { $seconds } 秒内没有应答
message-storage-not-reached = { $seconds } 秒内没有连接成功：数据库不可达，或拒绝了连接
message-data-file = 控制台的数据文件
message-call-failed = { $path }：“{ $error }”
message-answer-unreadable = 无法读取 { $path } 的应答：“{ $error }”
message-traces-without-table = { $at } 中没有表 { $table }：还没有程序写入追踪数据，或者这是另一个数据库；参见 `elasticjob.tracing`
message-traces-without-column = { $at } 的表 { $table } 没有列 { $column }，因此无法按它查找记录；有权修改该表的程序在开始追踪时会添加它
message-traces-slow = 追踪数据库在 { $seconds } 秒内没有答复：请缩短时间范围或只查询一个作业，并请其管理员检查它是否繁忙
message-traces-busy = 读取 { $at } 的所有连接（最多 { $connections } 个）都被占用，{ $seconds } 秒内没有连接空出来供本次读取使用：请稍后重试；如果反复出现，请缩短时间范围或只查询一个作业，并请数据库管理员检查它是否繁忙
message-masked = { $setting }：存储的值含有敏感信息，显示为 { $mask }，而新值会以 { $mask } 代替它：请保持所显示的值，或在程序的配置中修改
message-settings-unreadable = 无法读取这些设置：“{ $reason }”
message-not-a-number = { $name }：“{ $value }”不是此处允许的整数
message-not-a-flag = { $name }：“{ $value }”不是 true 或 false
message-not-a-property = props：“{ $line }”不是 KEY=VALUE 的形式
message-wrong-values = { $problems }
message-not-previewed = 这些值与预览不同：请查看这些值的预览后再次保存
message-no-action = 表单中没有操作
message-no-action-or-item = 表单中没有操作或没有分片项
message-action-of-item = 分片项可以启用、禁用和取消
message-range-reversed = 时间范围的结束早于开始：`from` 必须早于 `until`
message-range-too-long = 时间范围超过 { $days } 天：请缩短
message-no-answer-in-time = { $seconds } 秒内没有应答
message-parameter-unknown = 此地址没有参数 `{ $name }`，它的参数是：{ $known }
message-field-wrong = `{ $name }`：{ $reason }
message-field-one-of = `{ $name }` 应为以下之一：{ $values }
message-field-time = `{ $name }` 不是时间：请写 2026-11-21T03:00 或 2026-11-21T03:00:00Z
message-field-either = `{ $one }` 与 `{ $other }` 同时给出：请去掉其中一个
message-field-instant = `{ $name }` 不是时间：请写 2026-11-21T03:00:00Z
message-field-time-missing = 缺少 `{ $name }`：请写 2026-11-21T03:00 或 2026-11-21T03:00:00Z
message-field-too-long = `{ $name }` 最多 { $most } 个字符
message-search-too-long = 搜索文字超过 { $most } 个字符
message-limit-out-of-range = limit 应为 1 至 { $most }
message-no-such-status = 没有状态“{ $status }”：{ $known }
message-no-reason = 控制台在此要求填写原因，但没有给出：请用 1 至 { $most } 个字符说明原因
message-reason-too-long = 原因有 { $count } 个字符，最多保留 { $most } 个
message-too-many-jobs = 选择了 { $count } 个作业，一次最多操作 { $most } 个
message-expression-too-long = 表达式最多 { $most } 个字符
message-not-kept = 控制台没有保存它的数据文件：请使用 --data FILE 启动，或设置 `elasticjob.console.data`
message-unknown-name = 没有“{ $name }”
message-name-taken = “{ $name }”已存在：请选择其他名称
message-of-settings = “{ $name }”来自控制台的设置：请在那里修改
message-last-administrator = “{ $name }”是最后一个可以管理控制台的用户：请先授予另一用户对所有对象的 admin 角色
message-account-name = “{ $name }”不是有效的名称：应为 1 至 { $longest } 个字母、数字、`.`、`_`、`-` 和 `@`，并以字母或数字开头
message-grants = 请授予 1 至 { $most } 个角色
message-token-without-user = 令牌属于控制台的用户并随其角色变化，而“{ $name }”不是用户：请以用户身份登录
message-more-than-owner = 该角色超出了令牌所有者“{ $name }”的角色
message-token-days = 令牌的有效期为 1 至 { $most } 天
message-no-password = “{ $name }”在此没有密码：在别处登录的用户请在那里修改
message-users-by-token = “{ $name }”是令牌，令牌不能新建、修改或删除用户，也不能设置密码：请以用户身份登录
message-wrong-password = 当前密码不正确
message-too-many-attempts = 尝试次数过多：请在 { $seconds } 秒后重试
message-login-refused = 用户名或密码错误
message-token-refused = 令牌无效：请重新登录，或申请新的令牌
message-session-refused = 无法开始会话：“{ $why }”
message-read-only = 此控制台只读
message-password-length = 密码须为 { $least } 至 { $most } 个字符，此密码为 { $length } 个
message-password-no-hash = 这不是 argon2id 的哈希；可用 `elasticjob console hash-password` 生成：“{ $why }”
message-password-not-made = 无法生成密码的哈希：“{ $why }”
message-data-unusable = 控制台的数据文件目前无法使用；原因见其日志
message-streams-full = 已打开 { $most } 个事件流，不能再打开更多：请稍后再试
message-streams-of-caller = 调用者已有 { $most } 个事件流，每个调用者不能更多：请关闭一个

# 云作业的 REST API 拒绝的请求，以及注册信息中的错误。
message-cloud-no-such-app = 没有应用“{ $name }”
message-cloud-no-such-job = 没有作业“{ $name }”
message-cloud-app-secrets = 应用“{ $name }”含有机密，而您管理的作业都没有运行它：请由所有作业的管理员注册第一个作业，或按您的授权范围给应用命名
message-cloud-body-no-json = 请求体不是 JSON：“{ $error }”
message-cloud-running-of-change = running 只能是 finish（默认：正在运行的继续）或 stop（停止正在运行的），不能是“{ $other }”
message-cloud-running-of-stop = 此处 running 只能是 stop，不能是“{ $other }”：正在运行的会被停止。若要让它运行完，请先用 `elasticjob disable --job JOB` 暂停作业，待 `GET /api/job/tasks/running` 中没有它之后再操作
message-cloud-triggered-before = 作业“{ $name }”此前已被触发，那次运行尚未开始：本次触发不会启动任何运行
message-cloud-job-is-disabled = 作业“{ $name }”或其应用已禁用：请先启用
message-cloud-log-item-number = item 是分片项的编号，从 0 开始
message-cloud-log-process-number = process 是 DAEMON 作业的进程编号，从 0 开始
message-cloud-log-of-daemon = 作业“{ $name }”是 DAEMON 作业，日志属于它的进程：请给出 process=N
message-cloud-log-of-transient = 作业“{ $name }”是 TRANSIENT 作业，日志属于它的分片项：请给出 item=N
message-cloud-no-log-of-process = { $place } 没有作业“{ $name }”的进程 { $process } 的日志
message-cloud-no-log-of-item = { $place } 没有启动 { $launch } 的分片项 { $item } 的日志
message-cloud-item-not-run = 作业“{ $name }”的分片项 { $item } 尚未运行
message-cloud-launch-of-another-job = 启动 { $launch } 不属于作业“{ $name }”
message-cloud-no-such-launch = “{ $launch }”不是启动的标识：请写成 JOB/scheduled@MILLISECONDS 或 JOB/manual@0xTRANSACTION@MILLISECONDS
message-cloud-not-traced = 调度器没有把追踪数据写入数据库：请设置 elasticjob.tracing 并重新启动它
message-cloud-number-out-of-range = { $name }：“{ $text }”不是 1 到 { $most } 之间的整数
message-cloud-no-such-column = sort：没有列“{ $column }”，现有列：{ $columns }
message-cloud-no-such-order = order：“{ $order }”既不是 ASC 也不是 DESC
message-cloud-no-flag = { $name }：“{ $text }”既不是 true 也不是 false
message-cloud-none-of = { $name }：“{ $text }”不在可选值之中：{ $known }
message-cloud-no-time = { $name }：“{ $text }”不是时间：请写成 2026-11-24 18:30:00（UTC）或 2026-11-24T18:30:00+08:00
message-cloud-no-such-span = 没有时段“{ $span }”：可用的时段为 online、lastWeek、last24hours、lastHour 和 lastMinute
message-cloud-app-name-missing = 缺少 appName：/api/operate/sandbox?appName=my_app
message-cloud-wrong-method = API 有此地址，但不支持此方法
message-cloud-no-such-address = 没有此路由：/api/openapi.json 列出所有路由
message-cloud-body-too-long = 请求正文超过 { $most } 字节
message-cloud-foreign-origin = 此请求由其他来源的页面让浏览器发出：请使用本地址的页面，或使用浏览器以外的程序
message-cloud-unreadable-request = 无法读取地址或请求正文：“{ $text }”
message-cloud-unauthorized-host = 未授权：未登录时请使用 http://127.0.0.1，或 elasticjob.console.allowed-hosts 中的主机名
message-cloud-unauthorized = 未授权：请将用户名和密码 POST 到 /api/login，并发送请求头 accessToken
message-cloud-role-needed = 需要角色 { $role }
message-cloud-login-body = 请给出含有 username 和 password 的 JSON：“{ $error }”
message-cloud-carrier-failed = 承载器未能{ $action }：“{ $why }”
message-cloud-read-states = 读取状态
message-cloud-list-launches = 列出启动
message-cloud-answer-launch = 回应启动请求
message-cloud-read-log = 读取日志
message-cloud-look-at-item = 查看分片项
message-cloud-look-at-processes = 查看作业的进程
message-cloud-remove-launch = 删除该次启动的文件夹
message-cloud-remove-packages = 删除不再使用的程序包
message-cloud-app-not-registered = 没有应用“{ $name }”：请先注册（POST /api/app）
message-cloud-job-not-registered = 没有作业“{ $name }”：请先注册（POST /api/job/register）
message-cloud-app-exists = 应用“{ $name }”已注册：请用 PUT /api/app 修改
message-cloud-job-exists = 作业“{ $name }”已注册：请用 PUT /api/job/update 修改
message-cloud-registration-contended = 其他调用者一再修改同一注册信息：请重试
message-cloud-parents-unchecked = 无法查看作业“{ $job }”之前的作业：{ $why }
message-cloud-other-carrier = 此调度器的承载器是 { $carrier }，而同一注册中心的调度器 { $scheduler } 的承载器是 { $other }：作业会交给其中任意一个，因此承载器必须相同。请先停止另一个（若它已消失，其会话会自行结束），或为此调度器使用单独的注册中心：elasticjob.reg-center.namespace 或 --namespace
message-cloud-other-place = 此调度器的任务放在 { $place }，而同一注册中心的调度器 { $scheduler } 的任务放在 { $other }：作业会交给其中任意一个，而双方互不知道对方运行的任务，因此集群与 --work 必须相同。请先停止另一个（若它已消失，其会话会自行结束），或为此调度器使用单独的注册中心：elasticjob.reg-center.namespace 或 --namespace
message-cloud-not-kept = 注册信息在此进程结束前有效，但没有保存：无法写入 { $path }：“{ $cause }”
message-cloud-fields-wrong = { $fields }
message-cloud-field-wrong = { $field }：{ $reason }
message-cloud-wrong-value = 不应为{ $is }；应为：{ $expected }
message-cloud-a-text-of = 文本“{ $text }”
message-cloud-quoted = “{ $text }”
message-cloud-a-list = 列表
message-cloud-an-object = 对象
message-cloud-give-text = 文本
message-cloud-give-flag = true 或 false
message-cloud-give-count = { $least } 到 { $most } 之间的整数
message-cloud-give-count-from = 不小于 { $least } 的整数
message-cloud-give-number = 整数
message-cloud-give-amount = 不小于 { $least } 的数
message-cloud-give-object = JSON 对象
message-cloud-give-texts = 由文本组成的对象
message-cloud-give-word = 一个单词
message-cloud-give-type = TRANSIENT 或 DAEMON
message-cloud-give-milliseconds = 从 1 开始的整数毫秒，例如一小时为 3600000
message-cloud-give-dependency = 文本，或由 job、when、items 组成的对象
message-cloud-give-dependencies = 形如 extract when failed 的文本，或由文本与（job、when、items）对象组成的列表
message-cloud-missing-text = 缺失：请给出，例如“{ $example }”
message-cloud-missing-number = 缺失：请给出一个数
message-cloud-missing-name = 缺失：它指明要修改哪一个
message-cloud-below-least = { $amount } 太小：最小为 { $least }
message-cloud-field-like = 没有此字段：请写成 `{ $known }`
message-cloud-no-such-field = 没有此字段：现有字段为 { $known }
message-cloud-dependency-part = 含有 `{ $name }`：只能有 job、when、items
message-cloud-dependency-part-type = 其中 `{ $name }` 不应为{ $is }；应为：文本
message-cloud-dependency-no-job = 没有 `job`：它指明前一个作业
message-cloud-address-masked = “{ $url }”中含有凭据的掩码：请写出凭据
message-cloud-address-relative = “{ $url }”没有绝对路径：请写成 file:///opt/apps/my_app.tar.gz
message-cloud-address-wrong = “{ $url }”不是地址：“{ $error }”
message-cloud-address-unsafe = “{ $url }”的内容可能在传输途中被篡改，而它会被运行：请使用 https，或加上 #sha256=HEX
message-cloud-address-unknown = “{ $url }”的形式未知：请使用 file:///PATH、https://... 或 oci://REGISTRY/NAME:TAG
message-cloud-checksum-wrong = “#{ $fragment }”不是校验和：请写 #sha256= 及 sha256sum 输出的 64 位十六进制数字
message-cloud-runs-no-image = 指定了镜像，而承载器 { $carrier } 不运行镜像：请使用 file: 或 https:
message-cloud-variable-name = 不是变量名：请使用字母、数字和 _
message-cloud-variable-of-item = 由调度器为每个分片项设置：请换一个名称
message-cloud-variable-nul = 含有编码为 0 的字符
message-cloud-text-too-long = 有 { $bytes } 字节，而进程的一段文本最多为 { $most } 字节：请写入文件
message-cloud-description-too-long = 过长：告知进程的作业描述以 JSON 计有 { $bytes } 字节（此字段占最多），而最多为 { $most } 字节：请放到程序可读取的地方
message-cloud-daemon-without-cron = 缺失：DAEMON 作业自行调度
message-cloud-daemon-depends = 用于 TRANSIENT 作业：DAEMON 作业按自己的 `cron` 调度
message-cloud-disabled-is-switched = 与作业的当前状态不同，而修改注册信息不会切换它：请发送 POST /api/job/JOB/disable 或 POST /api/job/JOB/enable
message-cloud-instances-of-transient = 用于 DAEMON 作业：TRANSIENT 作业的每个分片项各有一个进程
message-cloud-depends-or-cron = 作业只能有 `cron` 或 `dependsOn` 之一：在那些作业之后运行，或按自己的调度运行
message-cloud-depends-unequal = `items same` 要求分片项数与作业“{ $job }”相同：它有 { $total } 个，此作业有 { $own } 个；请先修改“{ $job }”的 shardingTotalCount
message-cloud-no-such-setting = 没有此设置：现有设置为 { $known }
message-cloud-name-of-node = 是注册中心里注册信息的节点：请换一个名称
message-cloud-app-unusable = 该应用无法使用：“{ $why }”
message-cloud-of-job = 作业“{ $name }”：{ $reason }
message-cloud-of-jobs = 作业 { $names }：{ $reason }
message-cloud-of-more-jobs = 作业 { $names } 及另外 { $more } 个作业：{ $reason }
message-cloud-no-room = 一个分片项及其应用需要 { $needs }，而主机有 { $total }：它永远不会开始
message-cloud-no-room-for-items = 一个进程（全部进程存活时分到 { $items } 个分片项）及其应用需要 { $needs }，而主机有 { $total }：它永远不会开始；请增加 instances，或减少所需资源
message-cloud-an-amount = { $cpus } CPU 和 { $megabytes } MB
message-cloud-process-for-each-item = { $carrier } 为每个分片项启动一个进程：请去掉此字段
message-cloud-no-queues = { $carrier } 没有队列：请去掉此字段
message-cloud-array-too-large = 集群的数组最多有 { $most } 个下标：请提高 slurm.conf 中的 MaxArraySize
message-cloud-no-such-partition = 集群没有分区“{ $name }”，现有分区：{ $known }
message-cloud-time-limit-too-long = 时间限制为 { $needs } 分钟，而可用分区最多允许作业运行 { $most } 分钟
message-cloud-too-many-cpus = 一个进程需要 { $needs } 个 CPU，而最大的节点有 { $most } 个
message-cloud-too-much-memory = 一个进程需要 { $needs } MB，而节点最多有 { $most } MB
message-cloud-ask-slurm = 查询 Slurm
message-cloud-note-stop = 记录分片项已被停止
message-cloud-ask-jobs-to-end = 请求 Slurm 作业结束
message-cloud-cancel-jobs = 取消该次启动的 Slurm 作业
message-cloud-too-many-of-pod = { $count } 太多：一个 Pod 最多由 { $most } 个分片项共用
message-cloud-no-label = “{ $text }”不能作为标签值：请给出 1 到 63 个字母、数字、“-”、“_”和“.”，且首尾是字母或数字
message-cloud-several-jobs = 队列让一次启动的所有 Pod 同时开始，而一个 Job 最多有 { $pods } 个 Pod：{ $total } 个分片项会成为多个 Job，{ $most } 个为一个；请减少分片项、提高 itemsPerProcess，或去掉队列
message-cloud-file-of-host = 指定了调度器主机上的文件，而 { $carrier } 的节点没有它：请使用 oci: 或 https:
message-cloud-image-missing = 缺失：请给出带有 shell 及程序包所需工具的镜像
message-cloud-checksum-missing = 没有校验和：每个 Pod 各自下载程序包，且必须运行相同的内容；请加上 #sha256=HEX
message-cloud-stop-items = 停止分片项
message-cloud-delete-jobs = 删除该次启动的 Job
message-cloud-list-pods = 列出作业的 Pod
